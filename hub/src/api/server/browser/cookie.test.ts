// The cookies of a browser: their names and attributes, over http and https, and what is read from a request.

import { describe, expect, it } from "vitest";
import { cookiesOf, SESSION, setCookie, SIGN_IN } from "./cookie.ts";

const headers = (of: Readonly<Record<string, string>>) => (name: string) => of[name];
const HERE = headers({ host: "127.0.0.1:7430", origin: "http://127.0.0.1:7430" });
const PUBLIC = headers({ host: "hub.example", origin: "https://hub.example" });
const ageMs = 600_000;

describe("AU-5 the cookies of a browser", () => {
  it("have the port in their names over http", () => {
    expect(setCookie(HERE, { kind: SESSION, value: "x", ageMs })).toBe(
      "pb_session_7430=x; HttpOnly; SameSite=Strict; Path=/api; Max-Age=600",
    );
    expect(setCookie(HERE, { kind: SIGN_IN, value: "x", ageMs })).toBe(
      "pb_sign_in_7430=x; HttpOnly; SameSite=Lax; Path=/; Max-Age=600",
    );
  });

  it("are bound to the host over https", () => {
    expect(setCookie(PUBLIC, { kind: SESSION, value: "x", ageMs })).toBe(
      "__Host-pb_session=x; Secure; HttpOnly; SameSite=Lax; Path=/; Max-Age=600",
    );
    expect(setCookie(PUBLIC, { kind: SESSION, value: undefined })).toMatch(/^__Host-pb_session=; .*Max-Age=0$/);
  });

  it("are bound to the path behind a proxy that serves the hub under one", () => {
    const proxied = headers({ host: "hub.example", origin: "https://hub.example", "x-forwarded-prefix": "/hub" });
    expect(setCookie(proxied, { kind: SESSION, value: "x", ageMs })).toBe(
      "pb_session_80=x; Secure; HttpOnly; SameSite=Strict; Path=/hub/api; Max-Age=600",
    );
  });

  it("are read by their names, at most four", () => {
    const cookie = "pb_session_7430=a; pb_session_7431=b; other=c; __Host-pb_session=d; pb_sign_in_7430=e";
    expect(cookiesOf({ host: "127.0.0.1:7430", cookie })).toEqual(["a", "d"]);
    expect(cookiesOf({ host: "127.0.0.1:7430", cookie }, SIGN_IN)).toEqual(["e"]);
    const many = Array.from({ length: 9 }, (_, index) => `pb_session_80=${index}`).join("; ");
    expect(cookiesOf({ host: "hub.example", cookie: many })).toEqual(["0", "1", "2", "3"]);
  });
});
