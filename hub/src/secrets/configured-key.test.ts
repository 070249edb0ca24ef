import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configuredSecretKey } from "./configured-key.ts";

it("T14 the key comes from a variable or a key file; setting both is an error", async () => {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-key-"));
  const file = join(dir, "key");
  const of = (variables: Record<string, string>) => () => configuredSecretKey(variables);
  const invalid = (field: string) => expect.objectContaining({ kind: "InvalidConfig", field });
  try {
    await writeFile(file, "from the file\n");
    expect(of({})()).toBeUndefined();
    expect(of({ PLUGBOARD_SECRET_KEY: "k" })()).toBe("k");
    expect(of({ PLUGBOARD_SECRET_KEY_FILE: file })()).toBe("from the file");
    expect(of({ PLUGBOARD_SECRET_KEY: "k", PLUGBOARD_SECRET_KEY_FILE: file })).toThrow(
      invalid("PLUGBOARD_SECRET_KEY_FILE"),
    );
    expect(of({ PLUGBOARD_SECRET_KEY_FILE: join(dir, "none") })).toThrow(invalid("PLUGBOARD_SECRET_KEY_FILE"));
    await writeFile(file, " \n");
    expect(of({ PLUGBOARD_SECRET_KEY_FILE: file })).toThrow(/is empty/);
  } finally {
    await rm(dir, { recursive: true });
  }
});
