// The process of the demo server: MCP on stdin and stdout; exits at the end of stdin.

import { StdioServer } from "../protocol/serve/stdio-server.ts";
import { demoService } from "./service.ts";

const configDir = process.argv[2] ?? "the config folder";
await new StdioServer({ input: process.stdin, output: process.stdout, service: demoService(configDir) }).ended;
