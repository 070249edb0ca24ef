// The floor of a stdio bridge: each line is posted to one HTTP server, each answer is a line. Usage: node floor/bridge.js URL

import { gatherWrites, splitLines } from "../lines.ts";
import { membersOf, textAt } from "./envelope.ts";
import { HttpCaller } from "./http-caller.ts";

const server = new HttpCaller(process.argv[2] ?? "", "legacy");
const write = gatherWrites((text) => void process.stdout.write(text));

const onLine = (line: Buffer) => {
  const method = membersOf(line).get("method");
  if (method === undefined) return;
  void server.post(line.toString(), { method: textAt(line, method) }).then((answer) => {
    if (answer.length > 0) write(`${answer.toString()}\n`);
  });
};

process.stdin.on("data", splitLines(onLine));
process.stdin.on("end", () => process.exit(0));
