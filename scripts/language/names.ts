/** Finds functions and variables that are named `xOf`. A look-up is `getX`, `findX` or `toX`. */
import { parseSync, Visitor } from 'vite'

/** Conventions of JSON Schema and of built-in objects. */
const CONVENTIONS = new Set(['allOf', 'anyOf', 'oneOf', 'indexOf', 'lastIndexOf', 'valueOf'])

/** Names from before the rule. Remove one when you rename it. */
const EARLIER = new Set(
  `answerOf apiErrorOf areaOf asOf backgroundOf batchesOf bodyOf bytesOf callerOf checkpointsOf chunksOf
  classOf colorOf columnOf commandOf confirmationOf countOf cropOf dayOf deliveriesOf digestOf entryOf
  errorsOf eventOf extentsOf failureOf faultOf fieldsOf fileOf folderOf framesOf geometryOf hostOf
  indicesOf infoOf itemOf jobOf jsonTypeOf keyOf languageOf linkOf linksOf listOf lumaOf madeOf mailOf
  mimeOf modifierOf nameOf numbersOf objectOf occurrenceOf orderOf orientationOf outcomeOf ownershipOf
  pageOf phraseOf placeOf placeholderOf planOf pngColourOf portOf queryOf rangeOf readerOf reasonOf
  removeExpiredOf rgbaOf sampleOf scannerOf scansOf schemaOf secondsOf
  serviceOf sizeOf smallestOf sourceOf spanOf tableOf textOf textsOf thumbOf ticketOf timeOf tokensOf
  transformationOf typeOf uploaderOf uploadersOf waitOf weightOf`.split(/\s+/),
)

/** Returns a line for each. Types, such as `KeyOf`, may be named so. */
export function findNames(path: string, source: string): string[] {
  const found: string[] = []
  const add = (node: { readonly type: string; readonly name?: unknown; readonly start: number } | null) => {
    if (node?.type !== 'Identifier' && node?.type !== 'PrivateIdentifier') return
    const name = String(node.name)
    if (!/^(?!is|has)[a-z]\w*Of$/.test(name) || CONVENTIONS.has(name) || EARLIER.has(name)) return
    const line = source.slice(0, node.start).split('\n').length
    found.push(`${path}:${line}: rename «${name}»: getX, findX or toX`)
  }
  new Visitor({
    FunctionDeclaration: ({ id }) => add(id),
    VariableDeclarator: ({ id }) => add(id),
    MethodDefinition: ({ key }) => add(key),
    PropertyDefinition: ({ key }) => add(key),
    Property: ({ key, computed }) => void (computed || add(key)),
    TSPropertySignature: ({ key }) => add(key),
    TSMethodSignature: ({ key }) => add(key),
  }).visit(parseSync(path, source).program)
  return found
}
