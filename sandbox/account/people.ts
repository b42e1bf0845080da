import { companies, firstNames, lastNames } from "./names.ts"
import { Random, streams } from "./random.ts"

export interface Person {
  firstName: string
  lastName: string
  name: string
  email: string
  phone: string
  companyName: string | undefined
}

/** The person of a seeded contact, whose name and address conversations, opportunities and orders copy. */
export const person = (seed: number, index: number): Person => {
  const random = new Random(seed, streams.person, index)
  const firstName = random.pick(firstNames)
  const lastName = random.pick(lastNames)
  const host = random.pick(hosts)
  return {
    firstName,
    lastName,
    name: `${firstName} ${lastName}`,
    email: `${plain(firstName)}.${plain(lastName)}${index}@${host}`,
    phone: `+1${random.between(201, 989)}555${String(random.int(10_000)).padStart(4, "0")}`,
    companyName: random.chance(0.2) ? random.pick(companies) : undefined
  }
}

const hosts = ["example.com", "example.org", "example.net", "mail.example", "post.example"]

const plainNames = new Map<string, string>()

/** The letters of a name that an email address may contain. Cached, because folding accents is slow. */
const plain = (name: string): string => {
  let folded = plainNames.get(name)
  if (folded === undefined) {
    folded = name.toLowerCase().replaceAll("ł", "l").replaceAll("ø", "o").normalize("NFD")
    folded = folded.replace(/[^a-z]/g, "") || "x"
    plainNames.set(name, folded)
  }
  return folded
}
