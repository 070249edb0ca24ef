// Browsers in words.

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bFirefox\/(\d+)/, "Firefox"],
  [/\b(?:Headless)?Chrome\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bWindows\b/, "Windows"],
  [/\bLinux\b/, "Linux"],
];

/** "Firefox 140 on Linux"; the whole text if neither is known. */
export function browserName(userAgent: string): string {
  const browser = BROWSERS.map(([pattern, name]) => ({ name, version: pattern.exec(userAgent)?.[1] })).find(
    ({ version }) => version !== undefined,
  );
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return userAgent;
  const name = `${browser.name} ${browser.version}`;
  return system === undefined ? name : `${name} on ${system}`;
}
