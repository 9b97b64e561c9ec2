import { OtherTabs } from '../work/other-tabs.ts'

/** What a tab shows, so that another of the same account, which holds the same claims, shows something else. */
export interface TriageTab {
  readonly shown: string | undefined
  /** When it was shown: of two tabs that come to one name together, the first keeps it. */
  readonly since: number
  /** Names whose decision may not be stored yet. */
  readonly decided: readonly string[]
  /** Names that it shows, or will. */
  readonly held: readonly string[]
}

const tabs = new OtherTabs<TriageTab>('triage')

const others = (): readonly TriageTab[] => tabs.states.get() ?? []

/** The other tabs in triage of this account. */
export const triageTabs = {
  subscribe: (listener: () => void) => tabs.states.subscribe(listener),
  /** Tells the other tabs what this one shows; undefined if it leaves triage. */
  announce: (tab: TriageTab | undefined) => tabs.announce(tab),
  get count(): number {
    return others().length
  },
  /** The tab that shows a name or has decided on it. */
  find: (name: string): TriageTab | undefined =>
    others().find(({ shown, decided }) => shown === name || decided.includes(name)),
  decided: (): ReadonlySet<string> => new Set(others().flatMap(({ decided }) => decided)),
  held: (): ReadonlySet<string> => new Set(others().flatMap(({ held }) => held)),
  /** Names at the start of the account's claims that this tab does not show. */
  busyCount: (): number => others().reduce((sum, { decided }) => sum + decided.length + 1, 0),
}
