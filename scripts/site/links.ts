import { existsSync } from 'node:fs'
import { posix } from 'node:path'

/** Returns the identifier of a heading, as GitHub makes it. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

/** Returns where the site has a page of the repository: the README of a folder is its index. */
export const toSitePath = (page: string): string =>
  page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')

/**
 * Returns the address on the site of a page that a link leads to, null if the link leads to another file of the repository, such as a
 * source. Other links stay as they are.
 */
export function toSiteLink(root: string, page: string, href: string): string | null {
  const [path = '', anchor] = href.split('#')
  if (path === '' || /^[a-z]+:/.test(path)) return href
  const target = posix.join(posix.dirname(page), path)
  const isPage = target.endsWith('.md') && (target.startsWith('docs/') || !target.includes('/'))
  if (!isPage) return existsSync(posix.join(root, target)) ? null : href
  return `/${toSitePath(target)}${anchor === undefined ? '' : `#${anchor}`}`
}
