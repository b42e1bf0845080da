/** What the address of a PostgreSQL database says about TLS: psql, which is libpq, is asked the same. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, chownSync, cpSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { accessesOf, reaching } from "../../src/destinations/postgres/address.ts"
import { postgresPrograms, sqlIn, startServer, withoutPostgres } from "../support/postgres.ts"
import { newFolder } from "../support/sluice.ts"

const of = (query: string, environment = {}, home = newFolder(), start = "postgres://u:p%3F@db.test/crm") =>
  accessesOf(`${start}${query}`, environment, home)
const kindsOf = (...given: Parameters<typeof of>) =>
  of(...given).map((one) => {
    const { ssl } = one!
    if (ssl === false) return "plain"
    if (ssl.rejectUnauthorized === false) return "any"
    return `${ssl.ca === undefined ? "public" : ssl.ca}${ssl.checkServerIdentity ? "" : " name"}`
  })

describe("an address", () => {
  const root = join(newFolder(), "ca.crt")
  writeFileSync(root, "CA")
  const home = newFolder()
  mkdirSync(join(home, ".postgresql"))
  cpSync(root, join(home, ".postgresql/root.crt"))
  it.each([
    ["", ["any", "plain"]],
    ["?application_name=x", ["any", "plain"]],
    ["?sslmode=disable", ["plain"]],
    ["?sslmode=allow", ["plain", "any"]],
    ["?sslmode=prefer", ["any", "plain"]],
    ["?sslmode=require", ["any"]],
    ["?sslmode=require&uselibpqcompat=true", ["any"]],
    ["?uselibpqcompat=true", ["any", "plain"]],
    ["?sslmode=no-verify", ["any"]],
    ["?ssl=true", ["any"]],
    ["?ssl=0", ["plain"]],
    ["?sslmode=disable&sslmode=require", ["any"]],
    ["?sslmode=verify-ca", ["public name"]],
    ["?sslmode=verify-full", ["public name"]],
    ["?sslrootcert=system", ["public name"]],
    [`?sslrootcert=${root}`, ["CA", "plain"]],
    [`?sslmode=require&sslrootcert=${root}`, ["CA"]],
    [`?sslmode=verify-ca&sslrootcert=${root.replaceAll("/", "%2F")}`, ["CA"]],
    [`?sslmode=verify-full&sslrootcert=${root}&uselibpqcompat=true`, ["CA name"]],
    [`?sslmode=disable&sslrootcert=${root}`, ["plain"]]
  ])("with %s is %j", (query, kinds) => {
    assert.deepStrictEqual(kindsOf(query), kinds)
  })

  it("takes what libpq takes from variables and from the home folder, and its own word counts more", () => {
    assert.deepStrictEqual(kindsOf("", { PGSSLMODE: "disable" }), ["plain"])
    assert.deepStrictEqual(kindsOf("?sslmode=require", { PGSSLMODE: "disable" }), ["any"])
    assert.deepStrictEqual(kindsOf("?sslmode=require", { PGSSLROOTCERT: root }), ["CA"])
    assert.deepStrictEqual(kindsOf("?sslmode=require", {}, home), ["CA"])
    assert.deepStrictEqual(kindsOf("?sslmode=verify-full", {}, home), ["CA name"])
  })

  it("has its files from its parameters, else from variables, else from the home folder", () => {
    const folder = newFolder()
    mkdirSync(join(folder, ".postgresql"))
    const files = { ca: "root.crt", cert: "postgresql.crt", key: "postgresql.key" }
    const names = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" }
    const fileOf = (place: string, kind: keyof typeof files) => {
      const path = place === "home" ? join(folder, ".postgresql", files[kind]) : join(folder, `${place}-${files[kind]}`)
      writeFileSync(path, `${place} ${kind}`)
      return path
    }
    const kinds = ["ca", "cert", "key"] as const
    const parameters = kinds.map((kind) => `${names[kind]}=${fileOf("parameter", kind)}`).join("&")
    const variables = Object.fromEntries(
      kinds.map((kind) => [`PG${names[kind].toUpperCase()}`, fileOf("variable", kind)])
    )
    for (const kind of kinds) fileOf("home", kind)
    for (const [place, query, environment] of [
      ["parameter", `&${parameters}`, variables],
      ["variable", "", variables],
      ["home", "", {}]
    ] as const) {
      const [{ ssl }] = of(`?sslmode=verify-full${query}`, environment, folder)
      const { ca, cert, key } = ssl as { readonly ca: string; readonly cert: string; readonly key: string }
      assert.deepStrictEqual(
        [ca, cert, key].map(String),
        kinds.map((kind) => `${place} ${kind}`)
      )
    }
  })

  it("of a socket has no TLS", () => {
    for (const start of ["/var/run/postgresql", "postgres://u@%2Fvar%2Frun/crm", "socket:/var/run?db=x"])
      assert.deepStrictEqual(kindsOf("", {}, home, start), ["plain"])
    assert.deepStrictEqual(kindsOf("?sslmode=require&host=/var/run"), ["plain"])
  })

  it("keeps all other parameters as they are, for pg to read", () => {
    const [access] = of("?options=-c%20a%3Db&sslmode=require&application_name=x")
    assert.strictEqual(access.connectionString, "postgres://u:p%3F@db.test/crm?options=-c%20a%3Db&application_name=x")
    assert.strictEqual(of("?sslmode=require")[0].connectionString, "postgres://u:p%3F@db.test/crm")
  })

  it.each([
    ["?sslmode=required", /sslmode is required; expected disable/],
    ["?sslmode=Pa$$w0rd", /^(?!.*w0rd).*sslmode is another word/],
    ["?sslmode=require&sslrootcert=system", /needs sslmode=verify-full, and not require/],
    ["?sslmode=require&sslrootcert=/no/such/file", /sslrootcert: ENOENT/]
  ])("with %s is refused", (query, message) => {
    assert.throws(() => of(query), message)
  })
})

/** An authority, and a certificate of it for the host. */
const certificates = (folder: string, name: string, host: string) => {
  const run = (...args: ReadonlyArray<string>) => execFileSync("openssl", args, { cwd: folder, stdio: "ignore" })
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
  run(
    "req",
    "-x509",
    ...key,
    "-days",
    "2",
    "-subj",
    `/CN=${name} CA`,
    "-keyout",
    `${name}-ca.key`,
    "-out",
    `${name}-ca.crt`
  )
  run("req", ...key, "-subj", `/CN=${host}`, "-keyout", `${name}.key`, "-out", `${name}.csr`)
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=DNS:${host}`)
  const signer = ["-CA", `${name}-ca.crt`, "-CAkey", `${name}-ca.key`, "-CAcreateserial"]
  run("x509", "-req", "-in", `${name}.csr`, ...signer, "-days", "2", "-extfile", `${name}.ext`, "-out", `${name}.crt`)
}

describe.skipIf(postgresPrograms === undefined)(
  `a server ${postgresPrograms === undefined ? withoutPostgres : ""}`,
  { tags: ["slow"] },
  () => {
    it("is reached by the modes with which psql reaches it, and encrypted alike", async () => {
      const server = await startServer()
      const warnings: Array<string> = []
      const onWarning = ({ message }: Error) => warnings.push(message)
      process.on("warning", onWarning)
      try {
        const folder = newFolder()
        certificates(folder, "right", "localhost")
        certificates(folder, "wrong", "localhost")
        const data = await sqlIn(server, "SHOW data_directory")
        const { uid, gid } = statSync(data)
        for (const file of ["right.key", "right.crt"]) {
          cpSync(join(folder, file), join(data, file))
          chownSync(join(data, file), uid, gid)
          chmodSync(join(data, file), 0o600)
        }
        for (const one of ["ssl_cert_file = 'right.crt'", "ssl_key_file = 'right.key'"])
          await sqlIn(server, `ALTER SYSTEM SET ${one}`)
        const statement =
          "SELECT CASE WHEN ssl THEN 'TLS' ELSE 'plain' END FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        const byPsql = (url: string) => {
          const { HOME: _, ...others } = process.env
          const { status, stdout } = spawnSync(join(postgresPrograms!, "psql"), ["-qAt", "-c", statement, url], {
            encoding: "utf8",
            env: { ...others, HOME: folder }
          })
          return status === 0 ? stdout.trim() : "refused"
        }
        const byUs = async (url: string) => {
          const connect = async (access: ConstructorParameters<typeof Client>[0]) => {
            const client = new Client(access)
            client.on("error", () => {})
            await client.connect()
            const { rows } = await client.query({ text: statement, rowMode: "array" })
            await client.end()
            return String(rows[0])
          }
          return reaching(url, connect).catch(() => "refused")
        }
        const found: Array<string> = []
        const expected: Array<string> = []
        for (const [ssl, kind] of [
          ["off", "host"],
          ["on", "host"],
          ["on", "hostssl"],
          ["on", "hostnossl"]
        ]) {
          writeFileSync(join(data, "pg_hba.conf"), `${kind} all all 127.0.0.1/32 trust\n`)
          await sqlIn({ url: `${server.url}?sslmode=prefer` }, `ALTER SYSTEM SET ssl = ${ssl}`)
          await sqlIn({ url: `${server.url}?sslmode=prefer` }, "SELECT pg_reload_conf()")
          await new Promise((resolve) => setTimeout(resolve, 300))
          for (const host of ["127.0.0.1", "localhost"])
            for (const mode of [undefined, "disable", "allow", "prefer", "require", "verify-ca", "verify-full"])
              for (const root of [undefined, "right-ca.crt", "wrong-ca.crt"]) {
                const query = new URLSearchParams({
                  ...(mode && { sslmode: mode }),
                  ...(root && { sslrootcert: join(folder, root) })
                })
                const url = `${server.url.replace("127.0.0.1", host)}?${query}`.replace(/\?$/, "")
                const label = `ssl ${ssl}, ${kind}, ${host}, ${mode}, ${root}: `
                expected.push(label + byPsql(url))
                found.push(label + (await byUs(url)))
              }
        }
        assert.deepStrictEqual(found, expected)
        assert.deepStrictEqual(warnings, [])
      } finally {
        process.off("warning", onWarning)
        await server.stop()
      }
    })
  }
)
