export { activate } from "./harness.js";
import "./language.js";
