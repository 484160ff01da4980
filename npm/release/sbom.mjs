// Bills of materials of programs and modules in CycloneDX 1.5.

import { createHash } from "node:crypto";
import { cratesOf } from "../notices.mjs";

/** SPDX expressions stay as they are; the old `/` of crates becomes `OR`. */
const expression = (license) => license.replaceAll("/", " OR ");

/**
 * The document for the packages `roots` of the workspace, built for `target` and published as `name`. It has neither time
 * nor machine, so the same sources give the same bytes.
 */
export function sbom({ name, version, license, target, roots }) {
  const components = cratesOf(target, roots).map((crate) => ({
    type: "library",
    "bom-ref": reference(crate),
    name: crate.name,
    version: crate.version,
    purl: reference(crate),
    ...(crate.license && { licenses: [{ expression: expression(crate.license) }] }),
    ...(crate.repository && { externalReferences: [{ type: "vcs", url: crate.repository }] }),
  }));
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": `${name}@${version}`,
        name,
        version,
        licenses: [{ expression: license }],
        properties: [{ name: "onloop:target", value: target }],
      },
    },
    components,
  };
  return `${JSON.stringify({ ...document, serialNumber: serialNumber(document) }, null, 2)}\n`;
}

const reference = ({ name, version }) => `pkg:cargo/${name}@${version.replace("+", "%2B")}`;

/** An identifier that is derived from the content. */
function serialNumber(document) {
  const digest = createHash("sha256").update(JSON.stringify(document)).digest("hex");
  const variant = ((Number.parseInt(digest[16], 16) & 0x3) | 0x8).toString(16);
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, variant + digest.slice(17, 20), digest.slice(20, 32)];
  return `urn:uuid:${parts.join("-")}`;
}
