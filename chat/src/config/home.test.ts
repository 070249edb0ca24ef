import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exists } from "@plugboard/shared/files/exists";
import { connect } from "@plugboard/shared/sqlite/driver";
import { locateHome, prepareHome } from "./home.ts";

describe("the folder of the chat server", () => {
  it.each([
    [{ PLUGBOARD_CHAT_HOME: "/c", PLUGBOARD_HOME: "/h" }, "/c"],
    [{ PLUGBOARD_HOME: "/h" }, "/h/data/chat"],
    [{ PLUGBOARD_HUB_HOME: "/h" }, "/h/data/chat"],
    [{ PLUGBOARD_HOME: "/h", PLUGBOARD_HUB_HOME: "/outer" }, "/h/data/chat"],
    [{ PLUGBOARD_HOME: "" }, "/u/.local/share/plugboard-chat"],
    [{ XDG_DATA_HOME: "/x" }, "/x/plugboard-chat"],
    [{ XDG_DATA_HOME: "relative" }, "/u/.local/share/plugboard-chat"],
  ])("%j: %s", (env, dir) => {
    expect(locateHome({ env, platform: "linux", home: "/u" }).dir).toBe(dir);
  });
});

describe("chats in the system's data folder, with PLUGBOARD_HOME", () => {
  let root: string;
  let log: string[];
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "chat-home-"));
    log = [];
  });
  afterEach(() => rm(root, { recursive: true }));

  const prepare = (env: Record<string, string> = {}) =>
    prepareHome({
      // The test's own folder is a temporary one.
      env: { PLUGBOARD_HOME: join(root, "hub"), TMPDIR: join(root, "tmp"), ...env },
      platform: "linux",
      home: root,
      log: (line) => log.push(line),
    });
  const system = () => join(root, ".local/share/plugboard-chat");
  const storeChats = async () => {
    await mkdir(system(), { recursive: true });
    await writeFile(join(system(), "chat.json"), "{}");
    const db = await connect(join(system(), "chat.db"));
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE message (text); INSERT INTO message VALUES ('hi')");
    return db;
  };

  it("are moved, with a message, and only once", async () => {
    await (await storeChats()).close();
    const { dir, database } = await prepare();
    expect([dir, (await stat(dir)).mode & 0o777]).toEqual([join(root, "hub/data/chat"), 0o700]);
    expect(log).toEqual([`PLUGBOARD_HOME is set: moved the chats from ${system()} to ${dir}`]);
    expect([await exists(system()), await readdir(dir)]).toEqual([false, ["chat.db", "chat.json"]]);
    const moved = await connect(database);
    expect(moved.all("SELECT text FROM message")).toEqual([{ text: "hi" }]);
    await moved.close();
    await prepare();
    expect(log).toHaveLength(1);
  });

  it("replace an empty folder of an earlier start", async () => {
    await prepare();
    await (await storeChats()).close();
    const { dir } = await prepare();
    expect(await readdir(dir)).toEqual(["chat.db", "chat.json"]);
  });

  it("stay if the new home has chats of its own", async () => {
    await (await storeChats()).close();
    const { dir } = await prepare({ PLUGBOARD_HOME: join(root, "tmp/other") });
    await writeFile(join(dir, "chat.json"), "{}");
    await prepare({ PLUGBOARD_HOME: join(root, "tmp/other"), TMPDIR: "/elsewhere" });
    expect(await readdir(system())).toEqual(["chat.db", "chat.json"]);
  });

  it("stay while another process uses them, and for a temporary home", async () => {
    const db = await storeChats();
    db.all("SELECT text FROM message");
    await prepare();
    await db.close();
    await prepare({ PLUGBOARD_HOME: join(root, "tmp/hub") });
    const use = `To use them: PLUGBOARD_CHAT_HOME=${system()}`;
    expect(log).toEqual([
      `The chats in ${system()} are not moved, since another process uses them. ${use}`,
      `The chats in ${system()} are not moved, since PLUGBOARD_HOME is a temporary folder. ${use}`,
    ]);
    expect(await readdir(system())).toEqual(expect.arrayContaining(["chat.db", "chat.json"]));
  });

  it("are not mentioned where there are none", async () => {
    await prepare();
    expect(log).toEqual([]);
  });
});
