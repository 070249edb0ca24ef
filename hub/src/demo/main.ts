// The demo server's process: MCP on stdin and stdout, ends with its input.

import { StdioServer } from "../wire/stdio-server.ts";
import { demoService } from "./service.ts";

const configDir = process.argv[2] ?? "the config folder";
await new StdioServer({ input: process.stdin, output: process.stdout, service: demoService(configDir) }).ended;
