import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { toAnchor, toSiteLink, toSitePath } from '../../scripts/site/links.ts'
import { ENGLISH, SPANISH } from '../../scripts/site/sidebar.ts'
import { environmentName, settings } from '../../src/server/config/settings.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Texts of all pages, by their path from the root. */
const pages = new Map<string, string>()

interface Link {
  readonly from: string
  readonly to: string
  readonly anchor: string | undefined
}

const withoutCode = (text: string) => text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')

function linksOf(path: string, text: string): Link[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor] = target.split('#')
    return { from: path, to: file === '' ? path : normalize(join(dirname(path), file)), anchor }
  })
}

function toHeadings(text: string): string[] {
  const matches = text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  return [...matches].map(([, heading = '']) => heading)
}

/** The anchors of a page's headings, as GitHub makes them. */
function toAnchors(text: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const heading of toHeadings(text)) {
    const slug = toAnchor(heading)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** Names of the parameters and of the fields of bodies in any part of an OpenAPI document. */
function* namesIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return
  for (const [key, value] of Object.entries(part)) {
    if (key === 'name' && 'in' in part && typeof value === 'string') yield value
    if (key === 'properties' && typeof value === 'object' && value !== null) yield* Object.keys(value)
    yield* namesIn(value)
  }
}

describe('documentation', () => {
  let links: readonly Link[]
  before(async () => {
    for await (const path of glob(['*.md', 'docs/**/*.md'], { cwd: root })) {
      pages.set(normalize(path), await readFile(join(root, path), 'utf8'))
    }
    links = [...pages].flatMap(([path, text]) => linksOf(path, text))
  })

  test('every link leads to an existing file and heading', () => {
    const broken = links.filter(({ to, anchor }) => {
      if (!existsSync(join(root, to))) return true
      const page = pages.get(to)
      return anchor !== undefined && (page === undefined || !toAnchors(page).has(anchor))
    })
    assert.deepEqual(broken, [])
    assert.ok(links.length > 100)
  })

  test('every page can be reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const page of reached) {
      for (const { from, to } of links) if (from === page && pages.has(to)) reached.add(to)
    }
    assert.deepEqual(
      [...pages.keys()].filter((path) => !reached.has(path)),
      [],
    )
  })

  test('the sidebar of the site has every page once', () => {
    const addresses = [...pages.keys()]
      .filter((path) => path.startsWith('docs/'))
      .map((path) => toSitePath(path).replace(/(index)?\.md$/, ''))
    const titles = (sidebar: typeof ENGLISH) => Object.values(sidebar).flatMap((group) => Object.keys(group))
    const listed = [...titles(ENGLISH), ...titles(SPANISH).filter((address) => address.startsWith('es/'))]
    assert.deepEqual(listed.sort(), [...addresses, '', 'CHANGELOG', 'CONTRIBUTING'].sort())
  })

  test('links of pages lead to pages of the site, and those to sources nowhere', () => {
    const from = (href: string) => toSiteLink(root, 'docs/api/events.md', href)
    assert.equal(from('README.md#errors'), '/api/index.md#errors')
    assert.equal(from('../../CONTRIBUTING.md'), '/CONTRIBUTING.md')
    assert.equal(from('../../src/lib/dns/README.md'), null)
    for (const href of ['#here', 'https://example.com/x.md', 'missing.png']) assert.equal(from(href), href)
  })

  test('every file named by a page exists', () => {
    const named = /`((?:assets|bench|bin|console|deploy|docs|scripts|src|test)\/[\w./-]*)`/g
    const missing = [...pages].flatMap(([path, text]) =>
      path === 'CHANGELOG.md'
        ? []
        : [...text.matchAll(named)]
            .map(([, file = '']) => file)
            .filter((file) => !existsSync(join(root, file)))
            .map((file) => `${path}: ${file}`),
    )
    assert.deepEqual(missing, [])
  })

  test('the API pages have each parameter and field of the OpenAPI document', async () => {
    const reference = [...pages]
      .flatMap(([path, text]) => (path.startsWith('docs/api/') ? [text] : []))
      .join()
    const document: unknown = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8'))
    // Parts of addresses, which have no table.
    const inAddresses = ['id', 'token']
    const undocumented = [...namesIn(document)].filter(
      (name) =>
        !inAddresses.includes(name) && !reference.includes(`\`${name}\``) && !reference.includes(`"${name}"`),
    )
    assert.deepEqual(undocumented, [])
  })

  test('no page has two equal headings', () => {
    const repeated = [...pages].flatMap(([path, text]) => {
      const headings = path === 'CHANGELOG.md' ? [] : toHeadings(text)
      return headings
        .filter((heading, index) => headings.indexOf(heading) < index)
        .map((heading) => `${path}: ${heading}`)
    })
    assert.deepEqual(repeated, [])
  })

  test('every picture is used', async () => {
    const shown = new Set(links.map(({ to }) => to))
    const unused = []
    for await (const path of glob('docs/images/**/*.*', { cwd: root })) {
      if (!shown.has(normalize(path))) unused.push(path)
    }
    assert.deepEqual(unused, [])
  })

  test('the configuration page has each setting once, in a row of its table', async () => {
    const rows = [
      ...(pages.get('docs/operations/configuration.md') ?? '').matchAll(
        /^\| `--([a-z-]+)` +\| `([A-Z_]+)` /gm,
      ),
    ]
    assert.deepEqual(
      rows.map(([, flag, variable]) => `${flag} ${variable}`).sort(),
      Object.values(settings)
        .map(({ name }) => `${name} ${environmentName(name)}`)
        .sort(),
    )
  })

  test('the monitoring page has each metric', async () => {
    const manual = pages.get('docs/operations/monitoring.md') ?? ''
    const metrics = new Set<string>()
    for await (const path of glob('src/**/*.ts', { cwd: root })) {
      const source = await readFile(join(root, path), 'utf8')
      for (const [name] of source.matchAll(/\bcatalejo_\w+(?='|: \[)/g)) metrics.add(name)
    }
    assert.ok(metrics.delete('catalejo_changes'), 'the channel of PostgreSQL')
    assert.ok(metrics.size > 20)
    assert.deepEqual(
      [...metrics].filter((name) => !manual.includes(`\`${name}\``)),
      [],
    )
  })
})
