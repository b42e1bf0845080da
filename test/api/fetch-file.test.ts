/** Files behind links, from a host that does everything a host may do. */
import { usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { readFileSync, readdirSync } from "node:fs"
import { type IncomingMessage, type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { type FileRequest, fetchFile } from "../../src/stages/api/fetch-file.ts"
import { makeLinks } from "../../src/stages/api/links.ts"
import { newFolder } from "../support/sluice.ts"

const png = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c48900004e2049444154", "hex"),
  randomBytes(20_000),
  Buffer.from("0000000049454e44ae426082", "hex")
])

/** Fetches `/file` from a host; the service is on the same machine. */
const fetchFrom = (listener: RequestListener, more: Partial<FileRequest> = {}) =>
  Effect.gen(function* () {
    const requests: Array<IncomingMessage> = []
    const server = yield* Effect.acquireRelease(
      Effect.promise<ReturnType<typeof createServer>>(
        () =>
          new Promise((resolve) => {
            const made = createServer((request, response) => {
              requests.push(request)
              return listener(request, response)
            }).listen(0, "127.0.0.1", () => resolve(made))
          })
      ),
      (one) =>
        Effect.sync(() => {
          one.closeAllConnections()
          one.close()
        })
    )
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const links = yield* makeLinks(origin, undefined)
    const folder = newFolder()
    const result = yield* Effect.promise((signal) =>
      fetchFile(
        links,
        { url: `${origin}/file`, folder, bytesMax: 100_000, accepts: () => true, signal, ...more },
        usualLimits.api
      )
    )
    const left = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    return { folder, left, requests, result }
  }).pipe(Effect.scoped)

const headers = { etag: '"1"', "last-modified": "Wed, 01 Jul 2026 00:00:00 GMT", "accept-ranges": "bytes" }

describe("a file behind a link", () => {
  it.effect("is stored under the name of its content, with the type of its first bytes, and without credentials", () =>
    Effect.gen(function* () {
      const { folder, left, requests, result } = yield* fetchFrom((_, response) =>
        response
          .writeHead(200, {
            ...headers,
            "content-type": "text/html",
            "content-disposition": 'attachment; filename="../../etc/passwd"'
          })
          .end(png)
      )
      const sha256 = createHash("sha256").update(png).digest("hex")
      const path = `files/${sha256.slice(0, 2)}/${sha256.slice(2)}.png`
      assert.deepStrictEqual(result, {
        status: "fetched",
        path,
        bytes: png.length,
        sha256,
        found: "image/png",
        contentType: "text/html",
        etag: '"1"',
        lastModified: headers["last-modified"]
      })
      assert.deepStrictEqual(left, [path])
      assert.isTrue(readFileSync(join(folder, path)).equals(png))
      assert.deepStrictEqual(
        requests.map((one) => [one.headers["authorization"], one.headers["accept-encoding"]]),
        [[undefined, "identity"]]
      )
    })
  )

  it.effect("that is empty is a file", () =>
    Effect.gen(function* () {
      const { left, result } = yield* fetchFrom((_, response) => response.end())
      assert.deepInclude(result, { status: "fetched", bytes: 0 })
      assert.lengthOf(left, 1)
    })
  )

  it.effect("is continued where its connection broke, if the host allows it and the file is the same", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* fetchFrom((request, response) => {
        const from = Number(/bytes=(\d+)-/.exec(request.headers["range"] ?? "")?.[1] ?? 0)
        if (from === 0)
          return response
            .writeHead(200, { ...headers, "content-length": png.length })
            .write(png.subarray(0, 8000), () => setTimeout(() => response.destroy(), 50))
        return response
          .writeHead(206, { ...headers, "content-range": `bytes ${from}-${png.length - 1}/${png.length}` })
          .end(png.subarray(from))
      })
      assert.deepInclude(result, { status: "fetched", bytes: png.length })
      assert.deepStrictEqual(
        requests.map((one) => [one.headers["range"], one.headers["if-range"]]),
        [
          [undefined, undefined],
          ["bytes=8000-", '"1"']
        ]
      )
    })
  )

  it.effect("is begun again if it changed meanwhile, or if the host sends no parts", () =>
    Effect.gen(function* () {
      for (const ranges of ["bytes", "none"]) {
        const other = Buffer.from("another content")
        let sent = 0
        const { result } = yield* fetchFrom((_, response) =>
          sent++ === 0
            ? response
                .writeHead(200, { ...headers, "accept-ranges": ranges, "content-length": png.length })
                .write(png.subarray(0, 8000), () => setTimeout(() => response.destroy(), 50))
            : response.writeHead(200, { ...headers, etag: '"2"' }).end(other)
        )
        assert.deepInclude(result, {
          status: "fetched",
          sha256: createHash("sha256").update(other).digest("hex")
        })
      }
    })
  )

  it.effect("is not stored if it has another length than announced, however often it is requested", () =>
    Effect.gen(function* () {
      const { left, requests, result } = yield* fetchFrom((request, response) => {
        if (request.headers["range"]) return response.writeHead(416).end()
        response.writeHead(200, { ...headers, "content-length": png.length + 1 })
        return response.write(png, () => setTimeout(() => response.destroy(), 50))
      })
      assert.deepInclude(result, { status: "failed" })
      assert.deepStrictEqual(left, [])
      assert.isAbove(requests.length, 1)
      assert.isBelow(requests.length, 10)
    })
  )

  it.effect(
    "is requested again after an answer that may pass",
    () =>
      Effect.gen(function* () {
        let sent = 0
        const { result } = yield* fetchFrom((_, response) =>
          sent++ < 2 ? response.writeHead(503).end() : response.end(png)
        )
        assert.deepInclude(result, { status: "fetched" })
      }),
    { tags: ["slow"] }
  )

  it.effect(
    "ends in the word for the answer of the host",
    () =>
      Effect.gen(function* () {
        for (const [status, word] of [
          [404, "gone"],
          [410, "gone"],
          [401, "refused"],
          [403, "refused"],
          [400, "failed"],
          [500, "failed"],
          [204, "failed"]
        ] as const) {
          const { left, result } = yield* fetchFrom((_, response) => response.writeHead(status).end("<h1>no</h1>"))
          assert.deepInclude(result, { status: word, reason: `the host answers ${status}` })
          assert.deepStrictEqual(left, [])
        }
      }),
    { tags: ["slow"] }
  )

  it.effect("is found at the end of redirects, but not of many", () =>
    Effect.gen(function* () {
      for (const [redirects, expected] of [
        [5, "fetched"],
        [6, "failed"]
      ] as const) {
        let sent = 0
        const { result } = yield* fetchFrom((_, response) =>
          sent++ < redirects ? response.writeHead(302, { location: `/${sent}` }).end() : response.end(png)
        )
        assert.strictEqual(result.status, expected)
      }
    })
  )

  it.effect("is never requested at a private address, by any way that leads there", () =>
    Effect.gen(function* () {
      for (const location of [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00::1]/",
        "http://0x0a000001/",
        "http://2852039166/",
        "file:///etc/passwd",
        "ftp://example.com/"
      ]) {
        const direct = yield* fetchFrom((_, response) => response.end(png), { url: location })
        assert.strictEqual(direct.result.status, "not public", location)
        const redirected = yield* fetchFrom((_, response) => response.writeHead(302, { location }).end())
        assert.strictEqual(redirected.result.status, "not public", location)
        assert.lengthOf(redirected.requests, 1)
      }
    })
  )

  it.effect("is not larger than the settings allow: announced, endless, or compressed", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(50_000_000))
      assert.isBelow(bomb.length, 100_000)
      for (const [what, listener] of [
        ["announced", (_, response) => response.writeHead(200, { "content-length": 1e9 }).write("x")],
        [
          "endless",
          (_, response) => {
            const more = () => response.write(png, () => void setImmediate(more))
            more()
          }
        ],
        ["compressed", (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb)]
      ] as ReadonlyArray<readonly [string, RequestListener]>) {
        const { left, requests, result } = yield* fetchFrom(listener)
        assert.deepInclude(result, { status: "too large" }, what)
        assert.deepStrictEqual(left, [], what)
        assert.lengthOf(requests, 1, what)
      }
    })
  )

  it.effect("that a host compresses unasked is stored as it is", () =>
    Effect.gen(function* () {
      const { result } = yield* fetchFrom((_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(png))
      )
      assert.deepInclude(result, { status: "fetched", bytes: png.length, found: "image/png" })
    })
  )

  it.effect("of a type that is not wanted is left after its first bytes, whatever the host calls it", () =>
    Effect.gen(function* () {
      const { left, result } = yield* fetchFrom(
        (_, response) => response.writeHead(200, { "content-type": "application/pdf" }).end(png),
        { accepts: (type) => type === "application/pdf" }
      )
      assert.deepInclude(result, { status: "not chosen", contentType: "image/png" })
      assert.deepStrictEqual(left, [])
    })
  )

  it.effect("is begun anew if the rest that a host sends is of another version or size", () =>
    Effect.gen(function* () {
      const other = Buffer.concat([png.subarray(0, 100), randomBytes(png.length - 112), png.subarray(-12)])
      for (const [etag, total] of [
        ['"2"', png.length],
        ['"1"', png.length + 1]
      ] as const) {
        let sent = 0
        const { folder, result } = yield* fetchFrom((request, response) => {
          sent++
          if (sent === 1) {
            response.writeHead(200, { ...headers, "content-length": png.length })
            return response.write(png.subarray(0, 5000), () => request.socket.destroy())
          }
          const from = Number(/bytes=(\d+)-/.exec(request.headers["range"] ?? "")?.[1] ?? 0)
          if (from === 0) return response.writeHead(200, { ...headers, etag: '"2"' }).end(other)
          return response
            .writeHead(206, { ...headers, etag, "content-range": `bytes ${from}-${png.length - 1}/${total}` })
            .end(other.subarray(from))
        })
        assert.strictEqual(result.status, "fetched")
        assert.isTrue(readFileSync(join(folder, (result as { path: string }).path)).equals(other))
      }
    })
  )

  it.effect("is given up if its host breaks off and sends the rest of another version again and again", () =>
    Effect.gen(function* () {
      let sent = 0
      const { left, result } = yield* fetchFrom((request, response) => {
        sent++
        const from = Number(/bytes=(\d+)-/.exec(request.headers["range"] ?? "")?.[1] ?? 0)
        if (from === 0) {
          response.writeHead(200, { ...headers, "content-length": png.length })
          return response.write(png.subarray(0, 5000), () => request.socket.destroy())
        }
        const range = `bytes ${from}-${png.length - 1}/${png.length}`
        return response.writeHead(206, { ...headers, etag: '"2"', "content-range": range }).end(png.subarray(from))
      })
      assert.strictEqual(result.status, "failed")
      assert.isAtMost(sent, 6)
      assert.deepStrictEqual(left, [])
    })
  )

  it.effect("does not bring the credentials of those who ask", () =>
    Effect.gen(function* () {
      const { left, result } = yield* fetchFrom(
        (request, response) => response.end(`${"x".repeat(70_000)}${request.headers["authorization"]}`),
        { forbidden: ["token-0123456789"], headersFor: () => ({ authorization: "Bearer token-0123456789" }) }
      )
      assert.strictEqual(result.status, "failed")
      assert.deepStrictEqual(left, [])
    })
  )
})
