/**
 * Finds what people read in a source file: comments, names of tests, and in `src/` and `console/` also texts such as
 * messages, help and summaries.
 */
import { parseSync, Visitor } from 'vite'

interface Range {
  readonly start: number
  readonly end: number
}

const TEST_FUNCTIONS = new Set(['test', 'suite', 'it', 'describe'])
const hasTexts = (path: string) => /^(src|console)\//.test(path) && !/\.test\.tsx?$/.test(path)

/** Returns `source` with everything but its prose replaced by spaces, so that lines and columns stay. */
export function getProse(path: string, source: string): string {
  const { program, comments, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const ranges: Range[] = [...comments]
  const addText = (node: Range) => {
    const text = source.slice(node.start, node.end)
    // A single word is an identifier or a key rather than a text.
    if (/\S\s+\S/.test(text)) ranges.push(node)
  }
  /** The range of a part of a template includes the delimiters around it. */
  const addQuasi = ({ start, end }: Range) => {
    const [before = '', after = ''] = [/^[`}]/, /(?:`|\$\{)$/].map(
      (delimiter) => delimiter.exec(source.slice(start, end))?.[0],
    )
    addText({ start: start + before.length, end: end - after.length })
  }
  // Tagged templates are SQL.
  const tagged = new Set<number>()
  const visitor = hasTexts(path)
    ? new Visitor({
        TaggedTemplateExpression: ({ quasi }) => void tagged.add(quasi.start),
        TemplateLiteral: (node) => {
          if (!tagged.has(node.start)) node.quasis.forEach(addQuasi)
        },
        Literal: (node) => {
          if (typeof node.value === 'string') addText(node)
        },
        JSXText: addText,
      })
    : new Visitor({
        CallExpression({ callee, arguments: [name] }) {
          const called = callee.type === 'MemberExpression' ? callee.object : callee
          if (called.type !== 'Identifier' || !TEST_FUNCTIONS.has(called.name)) return
          if (name?.type === 'Literal') addText(name)
          if (name?.type === 'TemplateLiteral') name.quasis.forEach(addQuasi)
        },
      })
  visitor.visit(program)
  return blankAllBut(source, ranges)
}

function blankAllBut(source: string, ranges: readonly Range[]): string {
  const blank = (start: number, end?: number) => source.slice(start, end).replaceAll(/[^\n]/g, ' ')
  let prose = ''
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (start < prose.length) continue
    prose += blank(prose.length, start) + source.slice(start, end)
  }
  return prose + blank(prose.length)
}
