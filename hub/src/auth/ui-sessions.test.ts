// Sessions of browsers: both halves, their ends, and the file that keeps them.

import { EventEmitter } from "node:events";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Grant, OWNER } from "./grant.ts";
import { UiSessions, type UiSessionsOptions } from "./ui-sessions.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OWNER_GRANT = { kind: "session", principal: OWNER, role: "admin", groups: "*", readOnly: false } as const;

let dir: string;
let clock: { now: number };
let warnings: string[];
let opened: UiSessions[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-ui-sessions-"));
  clock = { now: 1_800_000_000_000 };
  warnings = [];
  opened = [];
});

afterEach(async () => {
  // A file that is still being written would come back.
  await Promise.all(opened.map((sessions) => sessions.saved()));
  await rm(dir, { recursive: true, force: true });
});

const path = () => join(dir, "ui-sessions", "it.json");

async function open(options: Partial<UiSessionsOptions> = {}): Promise<UiSessions> {
  const sessions = await UiSessions.open({
    path: path(),
    owner: "token 1",
    grantOf: (id) => new Grant({ ...OWNER_GRANT, id }),
    now: () => clock.now,
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  opened.push(sessions);
  return sessions;
}

describe("the two halves", () => {
  it("both are needed, of the same session", async () => {
    const sessions = await open();
    const { credentials: one, session } = sessions.create("Firefox");
    const { credentials: other } = sessions.create("Chromium");
    expect(one.cookie).toMatch(/^[\w-]{43}$/);
    expect(new Set([one.cookie, one.pageKey, other.cookie, other.pageKey]).size).toBe(4);
    expect(sessions.find(one)).toMatchObject({ id: session.id, userAgent: "Firefox" });
    for (const wrong of [
      { ...one, pageKey: other.pageKey },
      { ...one, cookie: other.cookie },
      { cookie: one.pageKey, pageKey: one.cookie },
      { ...one, pageKey: "" },
      { ...one, cookie: `${one.cookie}x` },
    ])
      expect(sessions.find(wrong)).toBeUndefined();
  });

  it("T05 are in no file", async () => {
    const sessions = await open();
    const { credentials } = sessions.create("Firefox");
    await sessions.saved();
    const text = await readFile(path(), "utf8");
    expect(text).toContain("Firefox");
    expect(text).not.toContain(credentials.cookie);
    expect(text).not.toContain(credentials.pageKey);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
  });
});

describe("a session ends", () => {
  it("after 12 hours without a request", async () => {
    const sessions = await open();
    const { credentials } = sessions.create("");
    for (let times = 0; times < 5; times++) {
      clock.now += 12 * HOUR - 1;
      expect(sessions.find(credentials)).toBeDefined();
    }
    clock.now += 12 * HOUR;
    expect(sessions.find(credentials)).toBeUndefined();
    expect(sessions.list()).toEqual([]);
  });

  it("after 30 days, however much it is used", async () => {
    const sessions = await open();
    const { credentials, session } = sessions.create("");
    expect(session.expiresAt).toBe(clock.now + 30 * DAY);
    for (; clock.now < session.expiresAt; clock.now += 6 * HOUR) expect(sessions.find(credentials)).toBeDefined();
    expect(sessions.find(credentials)).toBeUndefined();
  });

  it("for good when its page key is lost, also after a restart of the hub", async () => {
    const sessions = await open();
    const { credentials } = sessions.create("Firefox");
    const { session: other } = sessions.create("Chromium");
    sessions.endByCookie([credentials.cookie]);
    await sessions.saved();
    const again = await open();
    expect(again.find(credentials)).toBeUndefined();
    expect(again.list().map(({ id }) => id)).toEqual([other.id]);
  });

  it("with its open responses, but not with the one that says so", async () => {
    const sessions = await open();
    const { session } = sessions.create("");
    const ended: string[] = [];
    const response = (name: string, headersSent = false) =>
      Object.assign(new EventEmitter(), {
        headersSent,
        end: () => ended.push(`${name} ended`),
        destroy: () => ended.push(`${name} cut`),
      });
    const answer = response("answer");
    const over = response("over");
    for (const each of [answer, over, response("events", true), response("a request")]) sessions.follow(session, each);
    over.emit("close");
    sessions.end(session.id, answer);
    expect(ended).toEqual(["events ended", "a request cut"]);
  });

  it("if there are more than 32: the one that was not used for longest", async () => {
    const sessions = await open();
    const made = Array.from({ length: 32 }, () => sessions.create("").credentials);
    const [first, second] = made;
    if (first === undefined || second === undefined) throw new Error("made");
    sessions.find(first);
    sessions.create("");
    expect(sessions.find(first)).toBeDefined();
    expect(sessions.find(second)).toBeUndefined();
    expect(sessions.list()).toHaveLength(32);
  });
});

describe("the file", () => {
  it("keeps sessions for the next process, with the time of the last request", async () => {
    const before = await open();
    const { credentials } = before.create("Firefox");
    clock.now += HOUR;
    before.find(credentials);
    await before.saved();
    clock.now += 11.5 * HOUR;
    expect((await open()).find(credentials)).toMatchObject({ userAgent: "Firefox" });
    clock.now += HOUR;
    expect((await open()).find(credentials)).toBeUndefined();
  });

  it("has no session that has ended", async () => {
    const before = await open();
    const { session } = before.create("one");
    before.create("two");
    before.end(session.id);
    await before.saved();
    expect((await open()).list().map(({ userAgent }) => userAgent)).toEqual(["two"]);
    before.endWhere(() => true);
    await before.saved();
    expect((await open()).list()).toEqual([]);
  });

  it("of another management token counts for nothing", async () => {
    const before = await open();
    const { credentials } = before.create("");
    await before.saved();
    expect((await open({ owner: "token 2" })).find(credentials)).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it.each(["{", "[]", '{"owner":"token 1","sessions":[{"id":1}]}'])(
    "with the content %s costs a sign-in",
    async (text) => {
      await (await open()).saved();
      const sessions = await open();
      sessions.create("");
      await sessions.saved();
      await writeFile(path(), text, { mode: 0o600 });
      expect((await open()).list()).toEqual([]);
      expect(warnings).toEqual([`${path()} is damaged: browsers have to sign in again`]);
    },
  );

  it("T13 that others can read costs a sign-in", async () => {
    const sessions = await open();
    sessions.create("");
    await sessions.saved();
    await chmod(path(), 0o644);
    expect((await open()).list()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("is open to other users")]);
  });
});

describe("AU-5 the session of a user", () => {
  const ann = { user: "1", role: "user", provider: "Acme", issuer: "https://id.example", subject: "ann" } as const;
  const grants = new Map<string, Grant>();
  const grantOf: UiSessionsOptions["grantOf"] = (id, person) => {
    if (person === undefined) return new Grant({ ...OWNER_GRANT, id });
    const grant = new Grant({ ...OWNER_GRANT, id, principal: `user:${person.user}`, role: person.role });
    grants.set(id, grant);
    return grant;
  };

  it("ends after twelve hours without use, and after seven days", async () => {
    const sessions = await open({ grantOf });
    const { credentials, session } = sessions.create("Firefox", { person: ann });
    expect(session.expiresAt - session.createdAt).toBe(7 * DAY);
    for (let hours = 0; hours + 11 < 7 * 24; hours += 11) {
      expect(sessions.find(credentials)).toMatchObject({ id: session.id, person: ann });
      clock.now += 11 * HOUR;
    }
    clock.now = session.expiresAt;
    expect(sessions.find(credentials)).toBeUndefined();
  });

  it("ends with what its person may do, and ends that", async () => {
    const sessions = await open({ grantOf });
    const [one, two] = [sessions.create("One", { person: ann }), sessions.create("Two", { person: ann })];
    grants.get(one.session.id)?.end();
    expect(sessions.find(one.credentials)).toBeUndefined();
    sessions.end(two.session.id);
    expect(grants.get(two.session.id)?.hasEnded).toBe(true);
  });

  it("is known after a restart, without the token of the provider, and apart from those of the owner", async () => {
    const sessions = await open({ grantOf });
    const person = { ...ann, providerSession: "7" };
    const { credentials } = sessions.create("Firefox", { person, idToken: "a.b.c" });
    sessions.create("Chromium");
    await sessions.saved();
    const text = await readFile(path(), "utf8");
    expect(text).not.toContain("a.b.c");
    // A version of the hub that knows no users reads only these.
    expect(JSON.parse(text).sessions).toHaveLength(1);
    expect((await open({ grantOf })).find(credentials)).toMatchObject({ person, idToken: undefined });
    const without = await open({ grantOf: (id, who) => (who === undefined ? grantOf(id, who) : undefined) });
    expect(without.find(credentials)).toBeUndefined();
    expect(without.list()).toHaveLength(1);
  });

  it("does not begin for a person who may not use the hub", async () => {
    const sessions = await open({ grantOf: () => undefined });
    expect(() => sessions.create("Firefox", { person: ann })).toThrow(expect.objectContaining({ kind: "Forbidden" }));
  });
});
