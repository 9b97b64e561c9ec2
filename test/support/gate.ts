import type { Page, Route } from 'playwright-core'
import type { HttpError } from '../../src/lib/errors.ts'

/** Far longer than a page takes to ask. */
const TIMEOUT_MS = 60_000

/** Requests of a page to one operation, held until the test decides on them. */
export interface Gate {
  /** Resolves to the oldest request that is held, once there is one. Rejects if none comes in a minute. */
  next(): Promise<Held>
  /** Lets requests pass from now on, and those that are held. */
  open(): Promise<void>
}

export interface Held {
  /** What was posted. */
  readonly body: unknown
  pass(): Promise<void>
  /** Answers in the service's place. */
  answer(error: HttpError): Promise<void>
  /** The service gets it, the page never hears of that. */
  loseAnswer(): Promise<void>
  /** The service does not get it. */
  lose(): Promise<void>
}

/** What a route fulfils with the service's own answer to an error. */
export const errorResponse = (error: HttpError) => ({
  status: error.status,
  headers: { ...error.headers },
  json: error.body(),
})

/**
 * Holds the requests of a page to an operation, such as `domainwatch/update`.
 * @param method leaves alone requests of others, where the page also reads what it posts to
 */
export async function holdRequests(page: Page, operation: string, method?: 'POST'): Promise<Gate> {
  const held: Route[] = []
  const waiting: ((route: Route) => void)[] = []
  const address = `**/api/v1/${operation}?*`
  await page.route(address, (route) => {
    if (method !== undefined && route.request().method() !== method) return route.continue()
    const first = waiting.shift()
    if (first === undefined) held.push(route)
    else first(route)
  })
  return {
    async next() {
      const route = held.shift() ?? (await nextRequest(page, waiting, operation))
      return {
        get body(): unknown {
          return route.request().postDataJSON()
        },
        pass: () => route.continue(),
        answer: (error) => route.fulfill(errorResponse(error)),
        async loseAnswer() {
          await route.fetch()
          await route.abort('connectionreset')
        },
        lose: () => route.abort('connectionreset'),
      }
    },
    async open() {
      await page.unroute(address)
      for (const route of held.splice(0)) await route.continue()
    },
  }
}

function nextRequest(page: Page, waiting: ((route: Route) => void)[], operation: string): Promise<Route> {
  const { promise, resolve, reject } = Promise.withResolvers<Route>()
  // Made here, so that its stack names the line of the test that waits.
  const missing = new Error(`the page did not ask for ${operation}`)
  const late = setTimeout(() => {
    waiting.splice(waiting.indexOf(receive), 1)
    const shown = page.locator('body').innerText()
    shown
      .then((text) => (missing.message += `; it shows:\n${text}`))
      .catch(() => undefined)
      .finally(() => reject(missing))
  }, TIMEOUT_MS)
  const receive = (route: Route) => {
    clearTimeout(late)
    resolve(route)
  }
  waiting.push(receive)
  return promise
}
