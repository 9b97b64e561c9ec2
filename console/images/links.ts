/** What a link is pasted into, each with its own rules of quoting. */
export interface Links {
  readonly url: string
  readonly html: string
  readonly markdown: string
  readonly bbcode: string
}

interface Pictured {
  readonly name: string
  readonly width: number
  readonly height: number
}

const WIDTHS = [320, 640, 1_280, 1_920] as const

/**
 * @param link the address for a modifier
 * @param modifier what is applied; without one HTML offers several widths
 */
export function linksOf(image: Pictured, link: (modifier: string) => string, modifier = ''): Links {
  const url = link(modifier)
  const alt = image.name.replace(/\.[a-z\d]{2,5}$/i, '')
  const widths = modifier === '' ? WIDTHS.filter((width) => width < image.width) : []
  const srcset = widths.map((width) => `${link(`w_${width}`)} ${width}w`)
  const html = [
    `<img src="${escapeHtml(url)}"`,
    ...(srcset.length === 0
      ? []
      : [`srcset="${escapeHtml([...srcset, `${url} ${image.width}w`].join(', '))}" sizes="100vw"`]),
    ...(modifier === '' ? [`width="${image.width}" height="${image.height}"`] : []),
    `alt="${escapeHtml(alt)}" loading="lazy">`,
  ].join(' ')
  return {
    url,
    html,
    markdown: `![${escapeMarkdown(alt)}](<${url}>)`,
    // BBCode has no escapes: an address has no brackets, and nothing else is in there.
    bbcode: `[img]${url}[/img]`,
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** One line, with everything that Markdown or HTML in it would read as more than a letter behind a backslash. */
function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]()<>#+!|&~-]/g, '\\$&')
}
