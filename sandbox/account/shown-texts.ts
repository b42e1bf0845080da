/** What has a text in each of two forms, once it was shown. */
interface Shown {
  full: string | undefined
  list: string | undefined
}

/**
 * The JSON of records as it was shown, which costs more to make than to keep. All of a large account would not fit into
 * memory, so those that were made first are released.
 */
export class ShownTexts {
  readonly #charactersMax: number
  #characters = 0
  /** In the order in which they were made, from `#first` on. */
  #made: Array<readonly [entry: Shown, form: "full" | "list"]> = []
  #first = 0

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** The text of an entry in a form, made if it is not there. */
  of(entry: Shown, form: "full" | "list", make: () => string): string {
    const known = entry[form]
    if (known !== undefined) return known
    const text = make()
    entry[form] = text
    this.#made.push([entry, form])
    this.#characters += text.length
    while (this.#characters > this.#charactersMax && this.#first < this.#made.length - 1) this.#release()
    return text
  }

  #release(): void {
    const [entry, form] = this.#made[this.#first++]!
    this.#characters -= entry[form]?.length ?? 0
    entry[form] = undefined
    if (this.#first < 10_000 || this.#first < this.#made.length / 2) return
    this.#made = this.#made.slice(this.#first)
    this.#first = 0
  }
}

/** Some 300,000 records, with one byte for most characters. */
export const shownTexts = new ShownTexts(300_000_000)
