/** An authority for timestamps (RFC 3161), made of openssl with a certificate of its own. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo } from "node:net"
import { createServer } from "node:http"
import { join } from "node:path"
import { newFolder } from "./sluice.ts"

export interface Authority {
  readonly url: string
  /** The file of its certificate. */
  readonly certificate: string
  answers: "timestamps" | "failure" | "nothing" | "refusal" | "another"
  readonly close: () => Promise<void>
}

const config = (folder: string) => `
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = Test Authority
[extensions]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = authority
[authority]
serial = ${folder}/serial
signer_cert = ${folder}/certificate.pem
signer_key = ${folder}/key.pem
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_alg = sha256
[refusing]
serial = ${folder}/serial
signer_cert = ${folder}/certificate.pem
signer_key = ${folder}/key.pem
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha512
ess_cert_id_alg = sha256
`

export const openAuthority = async (openssl: string): Promise<Authority> => {
  const folder = newFolder()
  const path = (name: string) => join(folder, name)
  const run = (...args: ReadonlyArray<string>) => execFileSync(openssl, args, { stdio: "pipe" })
  writeFileSync(path("openssl.cnf"), config(folder))
  writeFileSync(path("serial"), "01\n")
  writeFileSync(path("other"), "other data")
  run(
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-config",
    path("openssl.cnf"),
    "-keyout",
    path("key.pem"),
    "-out",
    path("certificate.pem")
  )
  const reply = (query: string, section: string) => {
    run("ts", "-reply", "-config", path("openssl.cnf"), "-section", section, "-queryfile", query, "-out", path("reply"))
    return readFileSync(path("reply"))
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const isQuery = request.method === "POST" && request.headers["content-type"] === "application/timestamp-query"
      if (authority.answers === "failure" || !isQuery) return response.writeHead(isQuery ? 500 : 400).end()
      if (authority.answers === "nothing") return response.end()
      writeFileSync(path("query"), Buffer.concat(chunks))
      if (authority.answers === "another")
        run("ts", "-query", "-data", path("other"), "-sha256", "-cert", "-out", path("query"))
      response.end(reply(path("query"), authority.answers === "refusal" ? "refusing" : "authority"))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const authority: Authority = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    certificate: path("certificate.pem"),
    answers: "timestamps",
    close: async () => {
      await new Promise((resolve) => server.close(resolve))
    }
  }
  return authority
}
