/** The targets of a link, each with its own quoting. */
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
 * @param link returns the URL for a modifier
 * @param modifier the modifier; without one, HTML offers several widths
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
    // BBCode has no escapes, but URLs contain no brackets.
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

/** Returns one line with all characters escaped that are special in Markdown or HTML. */
function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]()<>#+!|&~-]/g, '\\$&')
}
