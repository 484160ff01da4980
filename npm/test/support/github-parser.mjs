// GitHub's parser of workflows and actions. It imports JSON like a bundler, which Node does not support.

import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { temporaryFolder } from "./temporary.mjs";

const PARSER = `
  export { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } from "@actions/workflow-parser";
  export { parseAction } from "@actions/workflow-parser/actions/action-parser";
`;

/** The parser: the errors of a document, and the jobs of a workflow. */
export async function githubParser() {
  const { outputFiles } = await build({
    stdin: { contents: PARSER, resolveDir: import.meta.dirname },
    bundle: true,
    format: "cjs",
    platform: "node",
    logLevel: "error",
    write: false,
  });
  const folder = temporaryFolder("onloop-github-");
  const file = join(folder, "parser.cjs");
  writeFileSync(file, outputFiles[0].contents);
  const parser = createRequire(import.meta.url)(file);
  rmSync(folder, { recursive: true });
  const trace = () => new parser.NoOperationTraceWriter();
  const errors = (context) => context.errors.getErrors().map(({ message }) => message);
  return {
    async workflow(content) {
      const { context, value } = parser.parseWorkflow({ name: "made.yml", content }, trace());
      const template = value && (await parser.convertWorkflowTemplate(context, value));
      return { errors: errors(context), jobs: template?.jobs ?? [] };
    },
    action(content) {
      return errors(parser.parseAction({ name: "action.yml", content }, trace()).context);
    },
  };
}
