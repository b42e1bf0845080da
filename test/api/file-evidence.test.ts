/** What contradicts what: the first bytes, the host, the link and the record, each case in one row. */
import { assert, describe, it } from "@effect/vitest"
import { type Said, contradictionIn } from "../../src/stages/api/file-evidence.ts"

const png = { head: Buffer.from("89504e470d0a1a0a", "hex"), found: "image/png" }
const pdf = { head: Buffer.from("%PDF-1.7"), found: "application/pdf" }
const text = (content: string) => ({ head: Buffer.from(content), found: undefined })
const page = text("<!DOCTYPE html><html><body>Please sign in</body></html>")
const json = text('{"error":"link expired"}')
const xml = text('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')
const bytes = { head: Buffer.from([0, 1, 2]), found: undefined }
const svg = text('<svg xmlns="http://www.w3.org/2000/svg"/>')

interface Case {
  readonly sent: { readonly head: Buffer; readonly tail?: Buffer; readonly found: string | undefined }
  readonly host?: string
  readonly link?: string
  readonly said?: Said
}
const found = ({ host, link = "/file", said = {}, sent }: Case) =>
  contradictionIn({ ...sent, bytes: sent.head.length, announced: host, url: `https://host.example${link}` }, said)

describe("what a host sent", () => {
  it.each<[string, Case]>([
    ["a picture", { sent: png }],
    ["a picture that the host calls a page", { sent: png, host: "text/html" }],
    ["a picture in another format than its link says", { sent: png, link: "/a.jpg" }],
    ["a PDF file of a record that names it", { sent: pdf, said: { name: "contract.pdf", type: "application/pdf" } }],
    ["a picture of another size, which the host has converted", { sent: png, said: { name: "a.png", bytes: 5402 } }],
    ["a drawing", { sent: svg, link: "/logo.svg" }],
    [
      "a drawing with its declaration",
      { sent: { ...text('<?xml version="1.0"?>\n<svg/>'), found: "application/xml" }, link: "/logo.svg" }
    ],
    ["a track, which is XML", { sent: { ...xml, found: "application/xml" }, said: { name: "walk.gpx" } }],
    [
      "a log of the size that the record says, which begins like data",
      { sent: json, host: "text/plain", said: { name: "app.log", bytes: json.head.length } }
    ],
    ["a page that the record calls a page", { sent: page, said: { name: "offer.html" } }],
    ["a page whose link ends so", { sent: page, link: "/offer.htm" }],
    ["data that the record calls data", { sent: json, said: { type: "application/json" } }],
    ["an empty text of which nothing is said", { sent: text("") }],
    ["a text of which nothing is said", { sent: text("a note") }],
    ["a text of the size that the record says", { sent: text("a note"), said: { name: "note.txt", bytes: 6 } }],
    ["bytes of an unknown kind", { sent: bytes, link: "/a.psd" }]
  ])("is the file: %s", (_, one) => assert.isUndefined(found(one)))

  it.each<[string, Case, RegExp]>([
    ["nothing in place of a picture", { sent: text(""), link: "/a.png" }, /an empty file/],
    ["nothing that the host calls a PDF file", { sent: text(""), host: "application/pdf" }, /an empty file/],
    ["nothing where the record has a size", { sent: text(""), said: { bytes: 12 } }, /an empty file/],
    ["a page", { sent: page, host: "text/html" }, /a page \(HTML\)/],
    ["a page after a comment and blanks", { sent: text("\ufeff <!-- x -->\n<HTML>") }, /a page/],
    ["a page in place of a PDF file", { sent: page, said: { name: "contract.pdf" } }, /a page/],
    ["a page that the host calls a PDF file", { sent: page, host: "application/pdf", link: "/a" }, /a page/],
    ["an error in JSON", { sent: json, host: "application/json" }, /data \(JSON\)/],
    ["an error in JSON in place of a picture", { sent: json, link: "/a.png" }, /data \(JSON\)/],
    ["an error in XML", { sent: xml, host: "application/xml", link: "/a.jpg" }, /data \(XML\)/],
    ["a page in place of data", { sent: page, said: { name: "export.json" } }, /a page/],
    [
      "a picture in place of a PDF file",
      { sent: png, said: { name: "contract.pdf" } },
      /a picture in place of a PDF file/
    ],
    ["bytes of an unknown kind in place of a PDF file", { sent: bytes, link: "/a.pdf" }, /something else/],
    [
      "a page in UTF-16",
      { sent: { ...page, head: Buffer.from("\ufeff<html>", "utf16le") }, link: "/a.docx" },
      /a page/
    ],
    ["data that the host alone calls a text", { sent: json, host: "text/plain", link: "/a.txt" }, /data \(JSON\)/],
    ["a text in place of a PDF file", { sent: text("down for maintenance"), link: "/a.pdf" }, /a text in place of/],
    [
      "a text that the host calls a picture",
      { sent: text("later"), host: "image/png" },
      /a text in place of a picture/
    ],
    ["a PDF file of another size", { sent: pdf, said: { name: "contract.pdf", bytes: 5402 } }, /says 5402/],
    ["a PDF file without its end", { sent: { ...pdf, tail: text("%PDF-1.7 obj").head } }, /without its end/],
    ["a picture without its last chunk", { sent: { ...png, tail: png.head } }, /without its end/],
    ["a text of another size", { sent: text("Please sign in"), said: { name: "a.txt", bytes: 5402 } }, /says 5402/]
  ])("is not the file: %s", (_, one, why) => assert.match(found(one)!, why))

  it("is a text wherever its beginning is cut, also within a character, and what has other bytes is none", () => {
    const words = Buffer.from("größe 💶, naïve – 日本")
    for (let cut = 1; cut <= words.length; cut++) {
      const head = words.subarray(0, cut)
      assert.match(
        found({ sent: { head, found: undefined }, link: "/a.png" })!,
        /a text in place of a picture/,
        `${cut} bytes`
      )
      const other = Buffer.concat([Buffer.from([0xff]), head])
      assert.isUndefined(found({ sent: { head: other, found: undefined }, link: "/a.png" }), `${cut} other bytes`)
    }
  })
})
