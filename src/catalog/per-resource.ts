/** What follows from a definition is computed once, because definitions never change and every stage asks for it. */
import type { Resource } from "./resource.ts"

export const perResource = <A extends object>(derive: (resource: Resource) => A): ((resource: Resource) => A) => {
  const derived = new WeakMap<Resource, A>()
  return (resource) => {
    const known = derived.get(resource)
    if (known) return known
    const found = derive(resource)
    derived.set(resource, found)
    return found
  }
}
