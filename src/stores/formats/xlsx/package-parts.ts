/** The files of a workbook besides its sheets. */
import { xmlText } from "./cells.ts"

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const schemas = "http://schemas.openxmlformats.org"
export const sheetSchema = `${schemas}/spreadsheetml/2006/main`
const relationships = `${schemas}/package/2006/relationships`
const officeRelationships = `${schemas}/officeDocument/2006/relationships`
const contentTypes = "application/vnd.openxmlformats-officedocument.spreadsheetml"

export const sheetPath = (index: number): string => `xl/worksheets/sheet${index + 1}.xml`

/** `names`: of the sheets, in order; `files`: the index of the file of each. */
export const packageParts = (
  names: ReadonlyArray<string>,
  files: ReadonlyArray<number>
): ReadonlyArray<readonly [path: string, content: string]> => [
  [
    "xl/workbook.xml",
    `${xml}<workbook xmlns="${sheetSchema}" xmlns:r="${officeRelationships}"><sheets>${names
      .map(
        (name, index) =>
          `<sheet name="${xmlText(name).replaceAll('"', "&quot;")}" sheetId="${index + 1}" r:id="rId${files[index]! + 1}"/>`
      )
      .join("")}</sheets></workbook>`
  ],
  [
    "xl/_rels/workbook.xml.rels",
    `${xml}<Relationships xmlns="${relationships}">${files
      .map(
        (file) =>
          `<Relationship Id="rId${file + 1}" Type="${officeRelationships}/worksheet" Target="worksheets/sheet${file + 1}.xml"/>`
      )
      .join("")}<Relationship Id="styles" Type="${officeRelationships}/styles" Target="styles.xml"/></Relationships>`
  ],
  ["xl/styles.xml", styles],
  [
    "_rels/.rels",
    `${xml}<Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="${officeRelationships}/officeDocument" Target="xl/workbook.xml"/></Relationships>`
  ],
  [
    "[Content_Types].xml",
    `${xml}<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${contentTypes}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${contentTypes}.styles+xml"/>${files
      .map((file) => `<Override PartName="/${sheetPath(file)}" ContentType="${contentTypes}.worksheet+xml"/>`)
      .join("")}</Types>`
  ]
]

/**
 * Formats by index, as `formats` in cells.ts: general, text, date, instant, header. Format 49 keeps what
 * is typed a text. Without milliseconds, 23:59:59.999 would be shown as the next day.
 */
const styles = `${xml}<styleSheet xmlns="${sheetSchema}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
