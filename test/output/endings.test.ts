/** The names of files that strangers have sent: a browser that opens one runs nothing of it. */
import { assert, it } from "@effect/vitest"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { IncomingFile, isStoredPath } from "../../src/output/stored-files.ts"
import { newFolder } from "../support/sluice.ts"

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

it.each<readonly [what: string, content: string | Buffer, ending: RegExp, found: string | undefined]>([
  ["SVG with a declaration", `<?xml version="1.0"?>${svg}`, /\.txt$/, "application/xml"],
  ["SVG", svg, /\.txt$/, undefined],
  ["SVG after a mark and blanks", `\uFEFF \n\t<!-- x -->${svg}`, /\.txt$/, undefined],
  [
    "XHTML",
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>1</script></html>`,
    /\.txt$/,
    "application/xml"
  ],
  ["XML with a style sheet", `<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><a/>`, /\.txt$/, "application/xml"],
  ["HTML", "<!doctype html><script>alert(1)</script>", /\.txt$/, undefined],
  ["a page in one file", "MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\n<script>", /\.txt$/, undefined],
  ["a script", "#!/bin/sh\nrm -rf /", /\.txt$/, undefined],
  ["a text", "Dear Jane", /\.txt$/, undefined],
  ["a program", Buffer.concat([Buffer.from("MZ"), Buffer.alloc(200)]), /\/[0-9a-f]{62}$/, "application/x-msdownload"],
  ["bytes without a signature", Buffer.from([1, 0, 2, 0, 3]), /\/[0-9a-f]{62}$/, undefined],
  ["a picture", png, /\.png$/, "image/png"],
  ["a PDF", "%PDF-1.7\n", /\.pdf$/, "application/pdf"]
])("%s", async (_, content, ending, found) => {
  const folder = newFolder()
  const incoming = new IncomingFile(folder, 10_000)
  incoming.write(Buffer.from(content))
  const stored = await incoming.keep()
  assert.match(stored.path, ending)
  assert.isTrue(isStoredPath(stored.path))
  assert.strictEqual(stored.found, found, "the record has the true type")
  assert.deepStrictEqual(readFileSync(join(folder, stored.path)), Buffer.from(content))
  rmSync(folder, { recursive: true })
})
