/** Splits a TypeScript file into identifiers and the texts that people read: comments and strings. */
import { SyntaxKind, createScanner } from "typescript/unstable/ast"

export interface SourceText {
  readonly kind: "name" | "text"
  readonly text: string
  /** From 1. */
  readonly line: number
}

export const sourceTexts = (source: string): ReadonlyArray<SourceText> => {
  const scanner = createScanner(false)
  scanner.setText(source)
  const found: Array<SourceText> = []
  /** For each open brace, whether it belongs to a template. */
  const braces: Array<boolean> = []
  let [line, end, previous] = [1, 0, SyntaxKind.Unknown]
  for (;;) {
    let token = scanner.scan()
    // The scanner does not know the context of slashes and braces.
    if (token === SyntaxKind.SlashToken && !endsOperand.has(previous)) token = scanner.reScanSlashToken()
    if (token === SyntaxKind.CloseBraceToken && braces.pop()) token = scanner.reScanTemplateToken(false)
    if (token === SyntaxKind.EndOfFile) return found
    if (opensBrace.has(token)) braces.push(token !== SyntaxKind.OpenBraceToken)

    const start = scanner.getTokenStart()
    line += linesIn(source.slice(end, start))
    const text = source.slice(start, scanner.getTokenEnd())
    if (token === SyntaxKind.Identifier || token === SyntaxKind.PrivateIdentifier)
      found.push({ kind: "name", text, line })
    else if (texts.has(token)) found.push({ kind: "text", text, line })
    line += linesIn(text)
    end = scanner.getTokenEnd()
    if (!comments.has(token)) previous = token
  }
}

const linesIn = (text: string): number => text.split("\n").length - 1

const comments: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.SingleLineCommentTrivia,
  SyntaxKind.MultiLineCommentTrivia
])
const texts: ReadonlySet<SyntaxKind> = new Set([
  ...comments,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail
])
const opensBrace: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.OpenBraceToken,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle
])
/** After these, a slash divides; elsewhere it begins a regular expression. */
const endsOperand: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken
])
