import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { routes } from "../../sandbox/routes.ts"
import { beyond, further, operations } from "./operations.ts"

const served = routes.map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`)
/** Served by the router itself, because it needs no token. */
const outside = "POST /oauth/token"
const isOfDocument1 = (operation: string): boolean =>
  /^\w+ \/(contacts|custom-fields|opportunities|users|locations|workflows|calendars|conversations)\//.test(operation)

describe("the operations of document 1", () => {
  const tabled = Object.values(operations).flat()

  it("are all served", () => {
    assert.deepEqual(
      tabled.filter((operation) => operation !== outside && !served.includes(operation)),
      []
    )
    assert.equal(new Set(tabled).size, tabled.length)
  })

  it("are all in the table of test files, as are the other operations of their families", () => {
    const known = new Set([...tabled, ...Object.values({ ...beyond, ...further }).flat()])
    assert.deepEqual(
      served.filter((operation) => isOfDocument1(operation) && !known.has(operation)),
      []
    )
  })

  it("occur in their test file with all words of their path", () => {
    for (const [file, called] of [
      ...Object.entries(operations),
      ...Object.entries(beyond),
      ...Object.entries(further)
    ]) {
      const text = readFileSync(join(import.meta.dirname, file), "utf8")
      for (const operation of called) {
        const words = operation.split(/[ /]/).filter((word) => /^[a-zA-Z-]+$/.test(word) && word === word.toLowerCase())
        for (const word of words) assert.include(text, word, `${file} does not call ${operation}`)
      }
    }
  })
})

it("no two routes serve the same operation", () => {
  const shapes = served.map((operation) => operation.replaceAll(/\{\w+\}/g, "{}"))
  assert.deepEqual(
    shapes.filter((shape, index) => shapes.indexOf(shape) !== index),
    []
  )
})
