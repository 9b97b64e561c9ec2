/** The guide to the console in each language, as pages that the console serves: its help leads to their sections. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Marked, type Token } from 'marked'

const GUIDES = [
  { language: 'es', source: 'docs/es/consola.md', page: 'guia.html' },
  { language: 'en', source: 'docs/console.md', page: 'guide.html' },
] as const

/** Returns the identifier of a section, as GitHub makes it from its heading. */
const toId = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-')

const markdown = new Marked({
  renderer: {
    heading(token) {
      const { depth, text, tokens } = token
      return `<h${depth} id="${toId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    // Other pages and pictures of the documentation are not served.
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return href.startsWith('#') ? `<a href="${href}">${text}</a>` : text
    },
    image: () => '',
    table({ header, rows }) {
      const row = (cells: readonly { tokens: Token[] }[], name: string) =>
        `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`
      const body = rows.map((cells) => row(cells, 'td')).join('\n')
      return `<div class="table"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
    },
  },
})

/** Writes the pages into the folder of a built console. */
export async function writeGuides(root: string, target: string): Promise<void> {
  for (const { language, source, page } of GUIDES) {
    const text = await readFile(join(root, source), 'utf8')
    const title = /^# (.+)$/m.exec(text)?.[1] ?? ''
    const html = `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Catalejo</title>
<link rel="stylesheet" href="guide.css">
<main>
${await markdown.parse(text)}</main>
</html>
`
    await writeFile(join(target, page), html)
  }
}
