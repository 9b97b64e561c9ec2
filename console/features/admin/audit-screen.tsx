import { callApi } from '../../api/client.ts'
import type { AuditEntry } from '../../../clients/js/schema.ts'
import { SERVICES } from '../../api/session.ts'
import { DELIVERY_MODES } from '../../base/constants.ts'
import { localTime } from '../../base/server.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Notice } from '../../design/notice.tsx'
import { TextField } from '../../design/field.tsx'
import { Link, Time } from '../../design/elements.tsx'
import { Page, PagedList, usePages, WideTable } from '../../design/page.tsx'
import { bytes, count, t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/admin.ts'
import '../../i18n/texts/audit.ts'
import './admin.css'

/** Who did what in the last year. */
export default function AuditScreen() {
  const { query } = useRoute()
  const account = query.get('account') ?? ''
  const audit = usePages(['admin', 'audit', account], (cursor, signal) =>
    callApi('GET /api/v1/admin/audit', { query: { account: account || undefined, cursor }, signal }),
  )
  return (
    <Page
      id="audit"
      title={t('nav.audit')}
      tools={
        <TextField
          label={t('app.account')}
          type="search"
          placeholder={t('audit.all')}
          value={account}
          onChange={(text) => changeQuery(withParameters(query, { account: text || undefined }))}
        />
      }
      explained={t('audit.explained')}
    >
      <PagedList
        of={audit}
        none={<Notice icon="note" title={t(account === '' ? 'audit.none' : 'audit.noMatch')} />}
      >
        {(entries) => <Entries entries={entries} />}
      </PagedList>
    </Page>
  )
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <WideTable
      labelledBy="audit"
      heads={[t('audit.time'), t('app.account'), t('audit.key'), t('audit.action'), t('audit.subject')]}
    >
      {entries.map(({ date, account, key, action, subject }, index) => (
        <tr key={`${date} ${index}`}>
          <th scope="row" className="audit-time">
            <Time at={localTime(date * 1_000)} />
          </th>
          <td className="account">
            <Link to="auditoria" query={new URLSearchParams({ account })}>
              {account}
            </Link>
          </td>
          <td className="mono">{key ?? '–'}</td>
          <td>{t(`audit.did.${action}`)}</td>
          <Details subject={subject} />
        </tr>
      ))}
    </WideTable>
  )
}

function Details({ subject }: { subject: string }) {
  const text = detailsText(subject)
  return <td className={text === subject ? 'mono audit-subject' : 'audit-subject'}>{text}</td>
}

/** Labels of values in details, by their names in the API. */
const LABELS: Readonly<Record<string, TextKey>> = {
  max_images: 'admin.maxImages',
  max_bytes: 'audit.maxBytes',
  delivery: 'admin.delivery',
  matched: 'nav.domains',
  revision: 'domains.review',
  discarded: 'domains.discarded',
  seen: 'domains.isSeen',
  reserve: 'domains.reserved',
  note: 'app.note',
  add_tags: 'audit.addedTags',
  remove_tags: 'audit.removedTags',
  image: 'audit.image',
  at: 'audit.position',
  width: 'audit.width',
  margin: 'audit.margin',
  opacity: 'audit.opacity',
}

const FLAGS = ['revision', 'discarded', 'seen', 'reserve']
const PERCENTAGES = ['width', 'margin', 'opacity']

/** `fotos (imagestore), key k7mq2x9apd` and `fotos {"max_bytes":1000}` in words. Other details are names and IDs. */
function detailsText(subject: string): string {
  const [, account = '', service, id = ''] =
    /^(.*) \((domainwatch|imagestore|admin)\), key (\w+)$/.exec(subject) ?? []
  const name = SERVICES.find((one) => one === service)
  if (name !== undefined) return t('audit.keyOf', { account, service: t(`service.${name}`), id })
  const [, about = '', json = ''] = /^(\S.*?) (\{.*\})$/.exec(subject) ?? []
  const values = toValues(json)
  if (values === undefined) return subject
  return [about, ...values.map(([label, value]) => valueText(label, value))].join(' · ')
}

/** The values of a JSON object and of the object `set` in it; undefined if a text is not JSON. */
function toValues(json: string): readonly (readonly [string, unknown])[] | undefined {
  try {
    const { set, ...others }: Readonly<Record<string, unknown>> = JSON.parse(json)
    return Object.entries({ ...others, ...Object(set) })
  } catch {
    return undefined
  }
}

function valueText(name: string, value: unknown): string {
  const label = LABELS[name]
  return `${label === undefined ? name : t(label)}: ${inWords(name, value)}`
}

function inWords(name: string, value: unknown): string {
  if (value === null) return t('app.noLimit')
  if (FLAGS.includes(name)) return t(value === 1 ? 'app.yes' : 'app.no')
  if (PERCENTAGES.includes(name)) return t('app.percent', { n: Number(value) })
  if (name === 'max_bytes') return bytes(Number(value))
  const mode = name === 'delivery' ? DELIVERY_MODES.find((one) => one === value) : undefined
  if (mode !== undefined) return t(`delivery.${mode}`)
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'number') return count(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
