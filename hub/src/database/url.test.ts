// Which addresses of a database are accepted: TLS that verifies the server, or this machine.

import { describe, expect, it } from "vitest";
import { describeAddress, parseDatabaseUrl } from "./url.ts";
import { isOlder } from "./migrate.ts";

const parse = (url: string) => parseDatabaseUrl(url, "database.url");
const VERIFIED = { rejectUnauthorized: true, ca: undefined };

describe("SC-2 the address of the database", () => {
  it.each([
    ["postgres://hub@127.0.0.1/db", false],
    ["postgres://hub@localhost:5433/db", false],
    ["postgresql://hub@[::1]/db", false],
    ["postgres://hub@localhost/db?host=/run/postgresql", false],
    ["postgres://hub@db.example.org/db", VERIFIED],
    ["postgres://hub@db.example.org/db?sslmode=verify-full", VERIFIED],
    ["postgres://hub@127.0.0.1/db?sslmode=verify-full", VERIFIED],
    ["postgres://hub@127.0.0.1.example.org/db", VERIFIED],
  ])("%s", (url, ssl) => {
    expect(parse(url).ssl).toEqual(ssl);
  });

  it("has all parts, of which messages show no user and password", () => {
    const address = parse("postgres://h%40b:p%2Fw@db.example.org:6432/my%20db");
    expect(address).toMatchObject({
      host: "db.example.org",
      port: 6432,
      user: "h@b",
      password: "p/w",
      database: "my db",
    });
    expect(describeAddress(address)).toBe("my db at db.example.org:6432");
  });

  it.each([
    ["postgres://db.example.org/db?sslmode=disable", /without TLS/],
    ["postgres://10.0.0.1/db?sslmode=disable", /without TLS/],
    ["postgres://db.example.org/db?sslmode=require", /sslmode=require does not verify/],
    ["postgres://db.example.org/db?sslmode=prefer", /does not verify/],
    ["postgres://db.example.org/db?sslrootcert=/nowhere.pem", /nowhere.pem cannot be read/],
    ["postgres://a,b/db", /one host/],
    ["postgres://db.example.org", /names no database/],
    ["postgres://db.example.org/db?options=-c", /unknown parameter options/],
    ["mysql://db.example.org/db", /not the address of a PostgreSQL/],
    ["db", /not the address of a PostgreSQL/],
  ])("refuses %s, and does not repeat the password", (url, message) => {
    const secret = url.replace("//", "//hub:hunter2@");
    expect(() => parse(secret)).toThrow(message);
    expect(() => parse(secret)).not.toThrow(/hunter2/);
  });

  it.each([
    ["0.1.0", "0.1.0", false],
    ["0.1.0", "0.2.0", true],
    ["0.10.0", "0.9.9", false],
    ["1.0.0-beta.1", "1.0.0", false],
  ])("release %s is older than %s: %j", (release, than, older) => {
    expect(isOlder(release, than)).toBe(older);
  });
});
