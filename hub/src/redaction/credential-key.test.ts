import { describe, expect, it } from "vitest";
import { CREDENTIAL_HINTS, isCredential, isCredentialKey } from "./credential-key.ts";

const credentials = [
  "password PASSWORD passWord user_password db-passwd passphrase pwd userPwd secret clientSecret client_secret",
  "token access_token refreshToken X-Auth-Token apiKey api_key API-KEY x-api-key apikey2 api_key_value authorization",
  "Authorization Proxy-Authorization proxy-auth auth oauth cookie Set-Cookie credentials private_key privateKeyPem",
  "aws_secret_access_key AWS_ACCESS_KEY_ID sshKey signing_key mcp-session-id sessionId jwt otp bearer",
].flatMap((line) => line.split(" "));

const harmless = [
  "progressToken nextPageToken page_token token_type token_count author authors key keys monkey keyboard passed",
  "compass name id text url secretName password_policy cookie_policy bypass session otpimize",
].flatMap((line) => line.split(" "));

describe("isCredentialKey", () => {
  it.each(credentials)("T12 %s is a credential", (key) => {
    expect(isCredentialKey(key)).toBe(true);
    // The redactor checks only names that contain a hint.
    for (const quote of ['"', "'", '\\"']) {
      const bytes = (key + quote).toLowerCase();
      expect(CREDENTIAL_HINTS.some((hint) => bytes.includes(hint))).toBe(true);
    }
  });

  it.each(harmless)("T12 %s is no credential", (key) => {
    expect(isCredentialKey(key)).toBe(false);
  });

  it("T12 a number of tokens is no token", () => {
    expect(isCredential("max_tokens", 4096)).toBe(false);
    expect(isCredential("tokens", ["abc"])).toBe(true);
    expect(isCredential("password", true)).toBe(false);
    expect(isCredential("password", 1234)).toBe(true);
  });
});
