import { apiUrl, callApi } from '../../api/client.ts'
import type { Scope } from '../../api/scope.ts'
import { type ServiceName, SERVICES } from '../../api/session.ts'
import { MAX_ACCOUNT_CHARACTERS, MAX_RATE, RATE_PERIODS, SCOPES } from '../../base/constants.ts'
import { FormDialog, ShownOnce } from '../../design/dialog.tsx'
import { showOnce, unsentForms } from '../work/forms.tsx'
import { count, t, tn } from '../../i18n/index.ts'
import { TextField, SelectField } from '../../design/field.tsx'

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
  const { fields, bind, set, ...form } = useFields('new', INITIAL)
  const { account, service, scope, expires, most, period } = fields

  const make = () =>
    showOnce('admin', async () => {
      const { data } = await callApi('POST /api/v1/admin/create', {
        query: {
          account,
          service,
          scope,
          expires: expires || undefined,
          rate: most === '' ? undefined : `${most}/${period}`,
        },
      })
      return (close) => <Shown made={data} onClose={close} />
    })

  return (
    <FormDialog
      title={t('admin.newKey')}
      action={t('app.create')}
      form={form}
      shownBy="admin"
      isDisabled={account.trim() === ''}
      onSend={make}
      onClose={onClose}
    >
      <TextField label={t('app.account')} required maxLength={MAX_ACCOUNT_CHARACTERS} {...bind('account')} />
      <SelectField
        label={t('admin.service')}
        value={service}
        options={SERVICES}
        textOf={(one) => t(`service.${one}`)}
        onChange={(next) => set({ service: next, scope: 'full' })}
      />
      <SelectField<Scope>
        label={t('admin.scope')}
        {...bind('scope')}
        options={SCOPES[service].toReversed()}
        textOf={(one) => t(`scope.name.${one}`)}
      />
      <SelectField
        label={t('admin.expires')}
        {...bind('expires')}
        options={['', ...LIFETIMES]}
        textOf={(one) => (one === '' ? t('app.never') : tn('admin.days', Number.parseInt(one, 10)))}
      />
      <div className="row">
        <TextField
          label={t('admin.rate')}
          className="grow"
          type="number"
          min={1}
          max={MAX_RATE}
          step={1}
          placeholder={t('app.noLimit')}
          {...bind('most')}
        />
        <SelectField
          label={t('admin.per')}
          {...bind('period')}
          options={RATE_PERIODS}
          textOf={(one) => t(`admin.period.${one}`)}
        />
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
  return (
    <ShownOnce
      title={t('admin.keyMade', { account: made.account })}
      text={t('admin.once')}
      secret={made.key}
      copyLabel={t('admin.copyKey')}
      line={`curl '${apiUrl(TRIES[made.service], { api: made.key }).href}'`}
      onClose={onClose}
    />
  )
}

const LIFETIMES = ['1d', '7d', '30d', '90d', '365d'] as const

/** `60/min` in words. */
export function rateText(rate: string): string {
  const [number, unit] = rate.split('/')
  const period = RATE_PERIODS.find((one) => one === unit)
  return period === undefined ? rate : t(`admin.rate.${period}`, { n: count(Number(number)) })
}
