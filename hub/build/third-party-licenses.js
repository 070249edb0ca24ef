// The licences of the libraries that are in a bundle, beside it: they want to go with every copy.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;
const LICENSE = /^(?:licen[cs]e|copying|notice)/i;

/** @returns {import("rolldown").Plugin} */
export function thirdPartyLicenses() {
  return {
    name: "third-party-licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
      const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[0] ?? []));
      if (folders.size === 0) return;
      const source = [...folders]
        .map(licenseOf)
        .toSorted()
        .join(`\n${"-".repeat(80)}\n\n`);
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source });
    },
  };
}

/**
 * Some come without the text: then what they say of themselves.
 *
 * @param {string} folder
 */
function licenseOf(folder) {
  const { name, version, license, homepage = "" } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => LICENSE.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} has no licence that could go with it`);
  return `${name} ${version}\n\n${texts.length > 0 ? texts.join("\n\n") : `Licence: ${license}  ${homepage}`}\n`;
}
