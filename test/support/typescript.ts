// The TypeScript of a document: checked as strictly as our own, and compiled to JavaScript for Node 20.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const TYPES = fileURLToPath(new URL("../../node_modules/@types", import.meta.url));
const BASE = fileURLToPath(new URL("../../tsconfig.base.json", import.meta.url));

/** In the repository, the types of the library are what tsc wrote; hub/build/types.js makes those of the published package. */
const LIBRARY = { plugboard: [fileURLToPath(new URL("../../hub/dist/index.d.ts", import.meta.url))] };

/** The errors in the files, one line each. */
export function typeErrors(files: readonly string[], own: ts.CompilerOptions = {}): string[] {
  const config: unknown = ts.readConfigFile(BASE, (path) => readFileSync(path, "utf8")).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileURLToPath(new URL(".", import.meta.url)));
  const here = { paths: LIBRARY, typeRoots: [TYPES], noEmit: true, composite: false, declaration: false };
  const program = ts.createProgram([...files], { ...options, ...here, ...own });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${file?.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

export function toJavaScript(source: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}
