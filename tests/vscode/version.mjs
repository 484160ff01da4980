/** VS Code 1.100.3, the oldest that the extension promises to run in, and made for Node 20. */
export const VERSION = "4.100.3";
