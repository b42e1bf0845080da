/** `schedule install` and `uninstall` in a home of their own, with a scheduler that records its calls. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { programOf } from "../support/programs.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const analyze = programOf("systemd", "/usr/bin/systemd-analyze")

let home: string
let environment: Readonly<Record<string, string>>
beforeEach(() => {
  home = newFolder()
  mkdirSync(join(home, "bin"))
  for (const name of ["systemctl", "launchctl"]) {
    writeFileSync(join(home, "bin", name), `#!/bin/sh\necho "${name} $*" >> "${home}/said"\n`)
    chmodSync(join(home, "bin", name), 0o755)
  }
  environment = { HOME: home, PATH: `${home}/bin:/usr/bin:/bin` }
})
const said = () => (existsSync(join(home, "said")) ? readFileSync(join(home, "said"), "utf8") : "")
const schedule = (...args: ReadonlyArray<string>) => sluice(["schedule", ...args], environment)

describe("two folders of one user", () => {
  afterEach(() => vi.restoreAllMocks())
  const inFolder = (folder: string, ...args: ReadonlyArray<string>) => {
    mkdirSync(folder, { recursive: true })
    vi.spyOn(process, "cwd").mockReturnValue(folder)
    return schedule(...args)
  }
  const files = () =>
    [".config/systemd/user", "Library/LaunchAgents"].flatMap((folder) =>
      existsSync(join(home, folder)) ? readdirSync(join(home, folder)).map((name) => join(home, folder, name)) : []
    )

  for (const scheduler of ["--as=systemd", "--as=launchd"])
    it.each([
      ["crm", "crm-2"],
      ["crm-2", "crm"],
      ["a--b", "a- -b"],
      ["a--b", "a-%2Db"],
      ["a---b", "a--b"],
      ["crm", "crm/crm"],
      ["crm x", "crm"],
      ["crm", "CRM"]
    ])(`leave the nightly run of the other one by ${scheduler}: %s and %s`, async (one, other) => {
      const [own, others] = [join(home, one), join(home, other)]
      assert.strictEqual((await inFolder(own, "install", scheduler, "--apply")).code, 0)
      const installed = files()
      assert.isAbove(installed.length, 0)
      for (const command of ["install", "uninstall"]) {
        const ran = await inFolder(others, command, scheduler, "--apply")
        assert.strictEqual(ran.code, 1, ran.stdout + ran.stderr)
      }
      assert.deepStrictEqual(files(), installed)
      assert.strictEqual((await inFolder(own, "uninstall", scheduler, "--apply")).code, 0)
      assert.deepStrictEqual(files(), [])
    })

  it("leave a file that both have marked", async () => {
    const own = join(home, "crm")
    await inFolder(own, "install", "--as=systemd", "--apply")
    const timer = join(home, ".config/systemd/user/sluice.timer")
    writeFileSync(timer, `${readFileSync(timer, "utf8")}# Written by ./sluice schedule install for /elsewhere\n`)
    assert.strictEqual((await inFolder(own, "uninstall", "--as=systemd", "--apply")).code, 1)
    assert.isTrue(existsSync(timer))
  })
})

describe("schedule install --as systemd", () => {
  const units = () => join(home, ".config/systemd/user")

  it("shows what it would write, and writes nothing", async () => {
    const shown = await schedule("install", "--as=systemd", "--at", "02:30", "--time-zone", "Europe/Berlin")
    assert.strictEqual(shown.code, 0, shown.stderr)
    assert.include(shown.stdout, `# ---- ${units()}/sluice.timer`)
    assert.include(shown.stdout, "OnCalendar=*-*-* 02:30:00 Europe/Berlin")
    assert.include(shown.stdout, "$ systemctl --user enable --now sluice.timer")
    assert.include(shown.stderr, "Nothing was written.")
    assert.isFalse(existsSync(units()))
    assert.strictEqual(said(), "")
  })

  it("writes units of the user and starts the timer, twice the same, and uninstall removes them", async () => {
    const apply = ["install", "--as=systemd", "--at", "02:30", "--apply"]
    for (let time = 0; time < 2; time++) {
      const ran = await schedule(...apply)
      assert.strictEqual(ran.code, 0, ran.stderr)
    }
    assert.deepStrictEqual(readdirSync(units()).toSorted(), ["sluice-failed.service", "sluice.service", "sluice.timer"])
    const service = readFileSync(join(units(), "sluice.service"), "utf8")
    // The manager of a user can change neither the user nor the view of the file system.
    assert.notMatch(service, /^(User|ProtectSystem|PrivateTmp)=/m)
    assert.include(service, `WorkingDirectory=${process.cwd()}`)
    const enable = "systemctl --user daemon-reload\nsystemctl --user enable --now sluice.timer\n"
    assert.strictEqual(said(), enable + enable)

    const plan = await schedule("uninstall", "--as=systemd")
    assert.include(plan.stdout, `would be removed: ${units()}/sluice.timer`)
    assert.strictEqual(readdirSync(units()).length, 3)
    assert.strictEqual((await schedule("uninstall", "--as=systemd", "--apply")).code, 0)
    assert.deepStrictEqual(readdirSync(units()), [])
    assert.isTrue(said().endsWith("systemctl --user disable --now sluice.timer\nsystemctl --user daemon-reload\n"))
    assert.include((await schedule("uninstall", "--as=systemd", "--apply")).stderr, "Nothing is installed.")
  })

  it("replaces and removes nothing that this folder did not install", async () => {
    mkdirSync(units(), { recursive: true })
    const own = join(units(), "sluice.timer")
    writeFileSync(own, "# Written by ./sluice schedule install for /elsewhere\n")
    for (const command of ["install", "uninstall"]) {
      const ran = await schedule(command, "--as=systemd", "--apply")
      assert.strictEqual(ran.code, 1, ran.stdout)
      assert.include(ran.stderr, own)
    }
    assert.deepStrictEqual(readdirSync(units()), ["sluice.timer"])
    assert.strictEqual(said(), "")
  })

  it("says what the scheduler refused, and ends with 1", async () => {
    writeFileSync(join(home, "bin/systemctl"), "#!/bin/sh\necho no bus >&2\nexit 1\n")
    const ran = await schedule("install", "--as=systemd", "--apply")
    assert.strictEqual(ran.code, 1)
    assert.include(ran.stderr, "systemctl --user daemon-reload: no bus")
    assert.include(ran.stderr, "Written, and not started.")
  })

  it.skipIf(analyze === undefined)("writes units that systemd accepts", { tags: ["slow"] }, async () => {
    await schedule("install", "--as=systemd", "--apply")
    const names = readdirSync(units()).map((name) => join(units(), name))
    const { status, stderr, stdout } = spawnSync(analyze!, ["--user", "verify", ...names], {
      encoding: "utf8",
      env: { ...environment, XDG_RUNTIME_DIR: home }
    })
    assert.strictEqual(status, 0, stdout + stderr)
  })
})

it("schedule install --as launchd writes an agent and its script, and uninstall removes both", async () => {
  const agent = join(home, "Library/LaunchAgents/local.sluice.plist")
  const ran = await schedule("install", "--as=launchd", "--output", join(home, "output"), "--json", "--apply")
  assert.strictEqual(ran.code, 0, ran.stderr)
  const [script, plist] = JSON.parse(ran.stdout).data.files
  try {
    assert.strictEqual(plist, agent)
    assert.include(readFileSync(agent, "utf8"), `<string>${script}</string>`)
    assert.match(readFileSync(script, "utf8"), /^#!\/bin\/sh\n# Written by .\/sluice schedule install for /)
    assert.match(said(), /^launchctl bootstrap gui\/\d+ .*local\.sluice\.plist\n$/)
  } finally {
    assert.strictEqual((await schedule("uninstall", "--as=launchd", "--apply")).code, 0)
  }
  assert.isFalse(existsSync(agent) || existsSync(script))
})
