// A hub with secrets planted in every place that can hold one, shared by the tests of the management API. When a test file
// ends, all answers that it got are searched for the secrets.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { formsOf, openManaged, type Answer, type Asked, type ManagedHub } from "../support/api.ts";
import { failing, fixture, type Servers } from "../support/hub.ts";

/** No form of these may appear in any answer. */
export const SECRETS = {
  env: "planted-env-5f3a9c",
  marked: "planted-marked-77b1",
  variable: "planted-variable-c0ffee",
  stored: "planted-stored-d00d",
  header: "planted-header-beef",
  userinfo: "planted-userinfo-9911",
  query: "planted-query-4242",
  arg: "planted-arg-8d8d",
  flag: "planted-flag-3c3c",
  json: "planted-json-6e6e",
  connection: "planted-connection-1f1f",
} as const;

export const SERVERS: Servers = {
  echo: {
    ...fixture("echo"),
    description: "Answers",
    env: {
      API_KEY: SECRETS.env,
      CODE: { value: SECRETS.marked, isSecret: true },
      HUB_TOKEN: "${HUB_VARIABLE}",
      STORED: { secretRef: "service" },
      DB: `postgres://app:${SECRETS.connection}@db/x`,
      MODE: "fast",
    },
    config: { apiKey: SECRETS.json, colour: "blue" },
    groups: ["hinted"],
  },
  second: { ...fixture("echo"), id: "id-of-second", autoApprove: ["echo"] },
  remote: {
    url: `http://u:${SECRETS.userinfo}@127.0.0.1:1/mcp?api_key=${SECRETS.query}&page=1`,
    headers: { Authorization: `Bearer ${SECRETS.header}`, "X-Other": SECRETS.header },
    enabled: false,
  },
  broken: {
    ...failing("API_KEY"),
    env: { API_KEY: SECRETS.env },
    enabled: false,
  },
  arguments: {
    command: "/no/such/command",
    args: ["--token", SECRETS.arg, `--password=${SECRETS.flag}`, "-e", `API_KEY=${SECRETS.flag}`],
    enabled: false,
  },
};

export const GROUPS = {
  desk: { description: "Desk", servers: ["echo"], tools: ["echo", "add"], name_asker: true, access: ["team:desk"] },
};

/** Opens the hub before the tests of a file, and checks its answers after them. */
export function usePlantedHub(): () => ManagedHub {
  let managed: ManagedHub;
  const unexpected: unknown[] = [];

  beforeAll(async () => {
    managed = await openManaged(SERVERS, {
      groups: GROUPS,
      variables: { HUB_VARIABLE: SECRETS.variable },
      onUnexpected: (error) => unexpected.push(error),
    });
    await managed.hub.secrets.set("service", SECRETS.stored);
    await managed.hub.start();
  });

  afterAll(async () => {
    // With `vitest -t`, the selected tests may have made no request: there is always something to search.
    for (const path of ["/servers", "/config"]) await managed.ask(path);
    const output = managed.seen.join("\n");
    expect(await managed.end()).toEqual([]);
    expect(output).toContain('"API_KEY":"***"');
    for (const [place, secret] of Object.entries(SECRETS)) {
      expect([place, formsOf(secret).filter((form) => output.includes(form))]).toEqual([place, []]);
    }
    expect(unexpected).toEqual([]);
  });

  return () => managed;
}

/** One request, and what its answer has to be. */
export interface Scenario {
  readonly title: string;
  /** Method and path below /api/v1: `GET /servers`. */
  readonly request: string;
  readonly body?: unknown;
  readonly headers?: Asked["headers"];
  readonly status: number;
  /** Part of the JSON of the answer. */
  readonly contains?: unknown;
  /** Text that must not be in the answer. */
  readonly lacks?: readonly string[];
}

/** Checks the answer to a scenario. A refused request leaves the config file unchanged. */
export async function expectScenario(managed: ManagedHub, scenario: Scenario): Promise<Answer> {
  const { request, body, headers = {}, status, contains = {}, lacks = [] } = scenario;
  const before = await configText(managed);
  const answer = await send(managed, request, { body, headers });
  expect(answer.status).toBe(status);
  expect(answer.json).toMatchObject(contains as object);
  for (const text of lacks) expect(answer.body).not.toContain(text);
  if (status < 400) return answer;
  expect(answer.json).toMatchObject({ status, code: expect.any(String), message: expect.any(String) });
  expect(await configText(managed)).toBe(before);
  return answer;
}

/** @example send(managed, "POST /servers", { body: { … } }) */
export function send(managed: ManagedHub, request: string, asked: Omit<Asked, "method"> = {}): Promise<Answer> {
  const [method = "", path = ""] = request.split(" ");
  return managed.ask(path, { method, ...asked });
}

export function configText({ paths }: ManagedHub): Promise<string> {
  return readFile(join(paths.config, "mcp_server.json"), "utf8");
}

export const MERGE_PATCH = { "content-type": "application/merge-patch+json" };

export function post(body: unknown): Asked {
  return { method: "POST", body };
}

export function patch(body: unknown): Asked {
  return { method: "PATCH", body, headers: MERGE_PATCH };
}

/** A complete problem document. */
export const problem = (status: number, code: string, kind: string | null) =>
  expect.objectContaining({ status, code, kind, message: expect.any(String) });
