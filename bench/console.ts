// Measures key presses in the console's query box with 1 million records, in a real browser: from the event to the
// frame that shows the result. There are two floors: fetching the same list in the same page, and rendering a minimal
// change of React state.
import { startBrowser } from '../test/support/browser.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { ROUNDS, RECORDS } from './lib/options.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

/** Typed letter by letter: common and rare matches, and none. */
const WORDS = ['casa', 'llanomar', 'sol-7', 'zzzz']
const TYPED = WORDS.flatMap((word) => [...word].map((_, i) => word.slice(0, i + 1)))
/** The interval of a fast typist. */
const BETWEEN_MS = 120
const PAGE_ROWS = 200

/** Resolves to the milliseconds from the event until the frame with the result has been painted. */
const pressed = (text: string) => `new Promise((resolve, reject) => {
  const box = document.querySelector('[role=search] input')
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
  const start = performance.now()
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => resolve(performance.now() - start)
  // A match across the words of a name is marked in parts.
  const matched = () =>
    [...(document.querySelector('.table-row')?.querySelectorAll('mark') ?? [])].map((mark) => mark.textContent).join('')
  const look = () => {
    const table = document.querySelector('[role=grid]')
    const isAnswered = !table.classList.contains('stale') && (
      document.querySelector('.notice') !== null && document.querySelector('.table-row') === null ||
      matched() === ${JSON.stringify(text)})
    // Runs just before the frame is painted; the message arrives after that.
    if (isAnswered) port2.postMessage(0)
    else if (performance.now() - start > 10000) reject(new Error('no result'))
    else requestAnimationFrame(look)
  }
  set.call(box, ${JSON.stringify(text)})
  box.dispatchEvent(new Event('input', { bubbles: true }))
  requestAnimationFrame(look)
})`

/** Fetches and parses the same list in the page without rendering it. */
const fetched = (address: string) => `(async () => {
  const start = performance.now()
  const answer = await fetch(${JSON.stringify(address)}, { cache: 'no-store' })
  await answer.json()
  return performance.now() - start
})()`

/** Moves the focus to another row, and resolves when the frame with this change has been painted. */
const EMPTY = `new Promise((resolve) => {
  const grid = document.querySelector('[role=grid]')
  const start = performance.now()
  grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }))
  const channel = new MessageChannel()
  channel.port1.onmessage = () => resolve(performance.now() - start)
  requestAnimationFrame(() => channel.port2.postMessage(0))
})`

await withWorkspace(async (workspace) => {
  const service = await startService(workspace)
  await addAll(service, generateDomains(RECORDS))
  await using browser = await startBrowser()
  const keys = { domainwatch: service.keys.domainwatch }
  const { page } = await browser.open(service, 'dominios', keys)
  await page.locator('.table-row mark, .table-row .domain').first().waitFor()
  const times = { key: [] as number[], list: [] as number[], state: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const text of TYPED) {
      const query = { search: text, limit: String(PAGE_ROWS) }
      const list = Number(await page.evaluate(fetched(service.endpoint('domainwatch/list', query))))
      const key = Number(await page.evaluate(pressed(text)))
      const state = Number(await page.evaluate(EMPTY))
      await page.waitForTimeout(BETWEEN_MS)
      // The first round warms up the service and the page.
      if (round > 0)
        [times.list, times.key, times.state].forEach((all, i) => all.push([list, key, state][i] ?? NaN))
      await forget(text)
    }
  }

  console.log(
    `\nKey presses with ${RECORDS.toLocaleString('en')} records, ${times.key.length} of each, in milliseconds\n`,
  )
  console.log('| | median | p95 | maximum |\n| --- | ---: | ---: | ---: |')
  say('key press to the frame with its result', times.key)
  say('floor: fetching the same list in the page', times.list)
  say('floor: change of React state to its frame', times.state)

  /** Clears the page's cache after the last word, so that the next round fetches again. */
  async function forget(text: string) {
    if (text !== TYPED.at(-1)) return
    await page.goto(`${service.url}/console/dominios`)
    await page.locator('.table-row .domain').first().waitFor()
  }
})

function say(what: string, all: readonly number[]): void {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(1)
  console.log(`| ${what} | ${at(0.5)} | ${at(0.95)} | ${at(1)} |`)
}
