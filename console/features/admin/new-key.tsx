import { apiUrl, callApi } from '../../api/client.ts'
import type { Scope } from '../../api/scope.ts'
import { type ServiceName, SERVICES } from '../../api/session.ts'
import { MAX_ACCOUNT_CHARACTERS, MAX_RATE, RATE_PERIODS, SCOPES } from '../../base/constants.ts'
import { Button } from '../../design/button.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { Dialog, FormDialog } from '../../design/dialog.tsx'
import { showOnce } from '../work/one-time-results.tsx'
import { unsentForms } from '../work/unsent-forms.ts'
import { count, t, tn } from '../../i18n/index.ts'

interface Made {
  readonly key: string
  readonly service: ServiceName
  readonly account: string
}

interface Fields {
  readonly account: string
  readonly service: ServiceName
  readonly scope: Scope
  /** Empty for never. */
  readonly expires: string
  /** Requests per period; empty for no limit. */
  readonly most: string
  readonly period: (typeof RATE_PERIODS)[number]
}

const INITIAL: Fields = {
  account: '',
  service: 'domainwatch',
  scope: 'full',
  expires: '',
  most: '',
  period: 'min',
}

const useFields = unsentForms<Fields>('admin')

/** Asks for an account and a service, then shows the key, once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const { fields, isChanged, set, forget } = useFields('new', INITIAL)
  const { account, service, scope, expires, most, period } = fields

  const make = () =>
    showOnce('admin', async () => {
      const { data } = await callApi('POST /api/v1/admin/create', {
        query: {
          account,
          service,
          scope,
          ...(expires === '' ? {} : { expires }),
          ...(most === '' ? {} : { rate: `${most}/${period}` }),
        },
      })
      return (close) => <Shown made={data} onClose={close} />
    })

  return (
    <FormDialog
      title={t('admin.newKey')}
      action={t('admin.make')}
      hasInput={isChanged}
      shownBy="admin"
      isDisabled={account.trim() === ''}
      onSend={make}
      onDone={forget}
      onClose={onClose}
    >
      <label className="field">
        <span>{t('admin.account')}</span>
        <input
          className="input"
          required
          maxLength={MAX_ACCOUNT_CHARACTERS}
          autoComplete="off"
          value={account}
          onChange={(event) => set({ account: event.target.value })}
        />
      </label>
      <label className="field">
        <span>{t('admin.service')}</span>
        <select
          className="input"
          value={service}
          onChange={(event) =>
            set({
              service: SERVICES.find((one) => one === event.target.value) ?? 'domainwatch',
              scope: 'full',
            })
          }
        >
          {SERVICES.map((one) => (
            <option key={one} value={one}>
              {t(`service.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{t('admin.scope')}</span>
        <select
          className="input"
          value={scope}
          onChange={(event) =>
            set({ scope: SCOPES[service].find((one) => one === event.target.value) ?? 'full' })
          }
        >
          {SCOPES[service].toReversed().map((one) => (
            <option key={one} value={one}>
              {t(`scope.name.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{t('admin.expires')}</span>
        <select className="input" value={expires} onChange={(event) => set({ expires: event.target.value })}>
          <option value="">{t('admin.neverExpires')}</option>
          {LIFETIMES.map((one) => (
            <option key={one} value={one}>
              {tn('admin.days', Number.parseInt(one, 10))}
            </option>
          ))}
        </select>
      </label>
      <div className="row">
        <label className="field grow">
          <span>{t('admin.rate')}</span>
          <input
            className="input"
            type="number"
            min={1}
            max={MAX_RATE}
            step={1}
            placeholder={t('admin.noRate')}
            value={most}
            onChange={(event) => set({ most: event.target.value })}
          />
        </label>
        <label className="field">
          <span>{t('admin.per')}</span>
          <select
            className="input"
            value={period}
            onChange={(event) =>
              set({ period: RATE_PERIODS.find((one) => one === event.target.value) ?? 'min' })
            }
          >
            {RATE_PERIODS.map((one) => (
              <option key={one} value={one}>
                {t(`admin.period.${one}`)}
              </option>
            ))}
          </select>
        </label>
      </div>
    </FormDialog>
  )
}

const TRIES: Readonly<Record<ServiceName, string>> = {
  domainwatch: '/api/v1/domainwatch/key',
  imagestore: '/api/v1/imagestore/key',
  admin: '/api/v1/admin/key',
}

function Shown({ made, onClose }: { made: Made; onClose: () => void }) {
  const line = `curl '${apiUrl(TRIES[made.service], { api: made.key }).href}'`
  return (
    <Dialog title={t('admin.keyMade', { account: made.account })} isFirm onClose={onClose}>
      <p className="callout">{t('admin.once')}</p>
      <code className="secret" translate="no">
        {made.key}
      </code>
      <div className="row">
        <CopyButton text={made.key} label={t('admin.copyKey')} />
        <CopyButton text={line} label={t('domains.curl')} isPlain />
      </div>
      <code className="address">{line}</code>
      <div className="row end">
        <Button look="primary" label={t('admin.kept')} onClick={onClose} />
      </div>
    </Dialog>
  )
}

const LIFETIMES = ['1d', '7d', '30d', '90d', '365d'] as const

/** `60/min` in words. */
export function rateText(rate: string): string {
  const [number, unit] = rate.split('/')
  const period = RATE_PERIODS.find((one) => one === unit)
  return period === undefined ? rate : t(`admin.rate.${period}`, { n: count(Number(number)) })
}
