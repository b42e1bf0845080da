/** The second part of the report: the account's business, from the models in schema `bi` of the published DuckDB file. */
import { type Html, html } from "../html.ts"

/** Instead of the figures. */
export const withoutModels = (why: string): Html => html`<p class="lead">${why}, so there is nothing to show here.</p>`
