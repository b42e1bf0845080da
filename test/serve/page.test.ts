/** The files of the page, which no compiler reads: what they import from each other, and that they make no markup. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { assetPaths, pageHtml } from "../../src/features/explore/assets.ts"

const modules = new Map(
  Array.from(assetPaths(true))
    .filter(([address]) => /^\/page\/.*\.js$/.test(address))
    .map(([address, path]) => [address, readFileSync(path, "utf8")] as const)
)
const found = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), (match) => match.slice(1))
const exportsOf = (text: string) => found(text, /^export (?:const|class) (\w+)/gm).map(([name]) => name)

describe("the page of the console", () => {
  it("imports only what its modules have", () => {
    const missing = Array.from(modules).flatMap(([address, text]) => [
      ...found(text, /^import \{([^}]*)\} from "\.\/([\w-]+\.js)"/gm).flatMap(([names, from]) =>
        names!
          .split(",")
          .map((name) => name.trim().split(" as ")[0]!)
          .filter((name) => name !== "" && !exportsOf(modules.get(`/page/${from}`) ?? "").includes(name))
          .map((name) => `${address}: ${name} of ${from}`)
      ),
      ...found(text, /import\("\.\/([\w-]+\.js)"\)/g).flatMap(([name]) =>
        modules.has(`/page/${name}`) ? [] : [`${address}: ${name}`]
      ),
      ...found(text, /\bpart\.(\w+)/g).flatMap(([name]) =>
        text.includes("* as part") && !exportsOf(modules.get("/page/console-parts.js")!).includes(name)
          ? [`${address}: part.${name}`]
          : []
      )
    ])
    assert.isAbove(modules.size, 30)
    assert.deepStrictEqual(missing, [])
  })

  it("makes no markup of what it receives", () => {
    const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc/
    const using = Array.from(modules).filter(([, text]) => markup.test(text))
    assert.deepStrictEqual(
      using.map(([address]) => address),
      []
    )
  })

  it("has the tabs that act only with a role, and loads nothing of them without one", async () => {
    const [explorer, reader] = [await pageHtml("nonce", ""), await pageHtml("nonce", "reader")]
    assert.include(reader, '<body data-console="reader" data-views="/page/console.js">')
    assert.include(reader, 'href="#/settings"')
    assert.include(explorer, '<body data-console="" data-views="">')
    assert.notMatch(explorer, /serve\.css|console-|#\/settings|\{\{/)
    assert.notInclude(reader, "{{")
  })
})
