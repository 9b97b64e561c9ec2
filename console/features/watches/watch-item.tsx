import { Fragment } from 'react'
import { callApi } from '../../api/client.ts'
import { useAccounts, usePermissions } from '../../api/scope.ts'
import { runOperation, toOperation } from '../work/operations.ts'
import { useStore } from '../../base/store.ts'
import { Button, MenuEntry, Icon, Link, Menu, Tag, Fact } from '../../design/elements.tsx'
import { showToast } from '../../design/toasts.tsx'
import { formatWords, queryOf } from '../filters/filters.ts'
import { DomainName } from '../domains/tags.tsx'
import { language, moment, t, tn, type TextKey } from '../../i18n/index.ts'
import { RequestButton } from '../../design/buttons.tsx'
import { ConfirmDialog, FormDialog, ShownOnce } from '../../design/dialog.tsx'
import { showOnce } from '../work/forms.tsx'
import type { Watch } from '../../../clients/js/schema.ts'
import { queryClient } from '../../api/query-client.ts'

export interface WatchActions {
  readonly onEdit: () => void
  readonly onDeliveries: () => void
  readonly onRotate: () => void
  readonly onRemove: () => void
}

/** A watch: its filters, destinations and the state of deliveries. */
export function WatchItem({ watch, ...actions }: { watch: Watch } & WatchActions) {
  const spoken = useStore(language)
  const isOwner = watch.owner === useAccounts()('domainwatch')
  const words = formatWords(watch.filters, spoken)
  const { similar } = watch.filters
  const remind = Number(watch.filters['remind'] ?? 0)
  return (
    <li className="watch stack" aria-label={watch.name}>
      <div className="row">
        <h2>{watch.name}</h2>
        {watch.paused === 1 && <Tag icon="clock" look="review" label={t('app.isPaused')} />}
        {watch.shared === 1 && (
          <Tag
            icon="person"
            label={isOwner ? t('watch.isShared') : t('watch.sharedBy', { account: watch.owner })}
          />
        )}
        <Actions watch={watch} isOwner={isOwner} {...actions} />
      </div>
      <dl className="facts">
        <Fact label={t('watch.looksFor')}>
          {similar !== undefined && (
            <>
              {t('watch.like')}{' '}
              {similar.split(',').map((name, i) => (
                <Fragment key={name}>
                  {i > 0 && ', '}
                  <DomainName name={name} />
                </Fragment>
              ))}
              {words !== '' && ' · '}
            </>
          )}
          {(words !== '' || similar === undefined) && (
            <Link to="dominios" query={queryOf(watch.filters)} className="mono">
              {words === '' ? t('watch.all') : words}
            </Link>
          )}
        </Fact>
        <Fact label={t('watch.tells')}>
          {t(`watch.of.${watch.changes}`)}
          {remind > 0 && ` · ${tn('watch.reminds', remind)}`}
          {watch.filters['dns'] === '1' && ` · ${t('watch.rechecked')}`}
        </Fact>
        <Fact label={t('watch.url')} className="mono">
          {watch.url}
        </Fact>
        {watch.to !== null && (
          <Fact label={t('watch.sends')}>
            <span className="mono">{watch.to.replaceAll(',', ', ')}</span>
            {watch.destinations.map(
              ({ to, confirmed }) =>
                confirmed === 0 && (
                  <p key={to}>
                    <Tag icon="clock" look="review" label={t('watch.unconfirmed')} />{' '}
                    {t('watch.unconfirmedText', { address: to.replace('mailto:', '') })}
                  </p>
                ),
            )}
          </Fact>
        )}
        {watch.digest !== null && (
          <Fact label={t('app.when')}>{t('watch.daily', { time: watch.digest })}</Fact>
        )}
        {watch.atom === 1 && <Fact label={t('watch.feed')}>{t('watch.hasFeed')}</Fact>}
        <Fact label={t('app.created')}>{said(watch.created)}</Fact>
        {watch.last_delivery !== null && <Fact label={t('watch.last')}>{said(watch.last_delivery)}</Fact>}
      </dl>
      <Trouble watch={watch} />
    </li>
  )
}

/** The errors since the last successful delivery, by destination. */
function Trouble({ watch }: { watch: Watch }) {
  const failing = watch.destinations.filter(
    ({ state, last_error }) => state === 'dead' || last_error !== null,
  )
  if (failing.length === 0) return null
  return (
    <div className="callout danger">
      {failing.map(({ channel, to, state, last_error, last_error_at, next_attempt }) => (
        <div key={`${channel} ${to}`}>
          {watch.destinations.length > 1 && <p className="mono">{to}</p>}
          {state === 'dead' && (
            <p>
              <Icon name="alert" /> <strong>{t('watch.dead')}</strong>
            </p>
          )}
          {last_error !== null && (
            <p>
              {last_error_at !== null && <span className="muted">{said(last_error_at)} · </span>}
              {deliveryErrorText(last_error)}
            </p>
          )}
          {next_attempt !== null && <p className="muted">{t('watch.again', { date: said(next_attempt) })}</p>}
        </div>
      ))}
    </div>
  )
}

function Actions(props: { watch: Watch; isOwner: boolean } & WatchActions) {
  const { watch, isOwner, onEdit, onDeliveries, onRotate, onRemove } = props
  const isLocked = !usePermissions()('writeDomains')
  return (
    <div className="row watch-actions">
      {watch.destinations.length > 0 && (
        <RequestButton
          icon="bell"
          label={t('watch.test')}
          about={watch.name}
          disabled={isLocked}
          onRequest={() => test(watch.id)}
        />
      )}
      <Button label={t('watch.deliveries')} about={watch.name} onClick={onDeliveries} />
      <Button label={t('app.edit')} about={watch.name} disabled={isLocked} onClick={onEdit} />
      {!isLocked && (
        <Menu label={t('app.more')} icon="more" fullName={`${t('app.more')}: ${watch.name}`}>
          <MenuEntry
            icon="clock"
            label={t(watch.paused === 1 ? 'app.resume' : 'app.pause')}
            onClick={() => pause(watch)}
          />
          {isOwner && watch.url !== null && (
            <MenuEntry icon="key" label={t('watch.rotate')} onClick={onRotate} />
          )}
          {isOwner && <MenuEntry icon="trash" label={t('watch.remove')} onClick={onRemove} />}
        </Menu>
      )}
    </div>
  )
}

function pause({ id, name, paused }: Watch): void {
  const isPaused = paused === 1
  runOperation(
    toOperation({
      subject: `watch:${id}`,
      pending: t(isPaused ? 'watch.resuming' : 'watch.pausing', { name }),
      done: t(isPaused ? 'watch.resumed' : 'watch.pausedNow', { name }),
      failed: (reason) => t('watch.pauseFailed', { name, reason }),
      shownBy: ['watches'],
      isRepeatable: true,
      send: () =>
        callApi('POST /api/v1/domainwatch/watches/update', { query: { id, paused: isPaused ? 0 : 1 } }),
    }),
  )
}

async function test(id: string): Promise<void> {
  const { data } = await callApi('POST /api/v1/domainwatch/watches/test', { query: { id } })
  const failed = data.data.filter(({ delivered }) => delivered === 0)
  const errors = failed.map(({ to, error }) => `${to}: ${deliveryErrorText(error ?? '')}`).join('; ')
  if (failed.length > 0) showToast(t('watch.failed', { error: errors }), { isError: true })
  else if (data.data.length > 1) showToast(t('watch.arrivedAll'))
  else showToast(t('watch.arrived', { code: String(data.code ?? '') }))
  await queryClient.invalidateQueries({ queryKey: ['watches'] })
}

/** A date and time in the service's format and time zone. */
const said = (date: string) => moment(Date.parse(date) / 1_000)

/** Asks for confirmation, because its secret and feed address are lost. */
export function RemoveWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const { id, name } = watch
  function remove() {
    runOperation(
      toOperation({
        subject: `watch:${id}`,
        pending: t('watch.removing', { name }),
        done: t('watch.removed', { name }),
        failed: (reason) => t('watch.removeFailed', { name, reason }),
        shownBy: ['watches'],
        send: () => callApi('DELETE /api/v1/domainwatch/watches', { query: { id } }),
      }),
    )
    onClose()
  }
  return (
    <ConfirmDialog
      title={t('watch.removeTitle', { name })}
      text={t('watch.removeText')}
      action={t('watch.remove')}
      onConfirm={remove}
      onClose={onClose}
    />
  )
}

/** Asks for confirmation, because receivers need the new secret, then shows it. */
export function RotateSecret({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const rotate = () =>
    showOnce(async () => {
      const query = { id: watch.id }
      const { data } = await callApi('POST /api/v1/domainwatch/watches/rotate', { query })
      return (close) => (
        <ShownOnce
          title={t('watch.isRotated')}
          secrets={toSecrets({ secret: data.secret, atom: null })}
          note={t('watch.overlap', { date: said(data.until_utc) })}
          onClose={close}
        />
      )
    })
  return (
    <FormDialog
      title={t('watch.rotateTitle', { name: watch.name })}
      action={t('watch.rotate')}
      shownBy="watches"
      onSend={rotate}
      onClose={onClose}
    >
      <p>{t('watch.rotateText')}</p>
    </FormDialog>
  )
}

/** What the service returns only once of a watch. */
interface Shown {
  readonly secret: string | null
  /** The address of a feed. */
  readonly atom: string | null
}

export const toSecrets = ({ secret, atom }: Shown) => [
  ...(secret === null ? [] : [{ label: t('watch.secret'), secret }]),
  ...(atom === null ? [] : [{ label: t('watch.feedAddress'), secret: atom }]),
]

/** Delivery errors of the service, which are in Spanish only. */
const ERRORS: readonly (readonly [RegExp, TextKey])[] = [
  [/^El receptor respondió (?<code>\d+)$/, 'watch.error.code'],
  [/^El receptor no respondió a tiempo$/, 'watch.error.timeout'],
  [/^La dirección del receptor no está permitida$/, 'watch.error.address'],
  [/^La dirección está por confirmar/, 'watch.error.unconfirmed'],
  [/^La dirección ya recibió (?<code>\d+) mensajes en un día$/, 'watch.error.fullAddress'],
  [/^La cuenta ya envió (?<code>\d+) correos en un día$/, 'watch.error.fullAccount'],
  [/^No se (ha podido|pudo) conectar con el receptor( \((?<code>\w+)\))?$/, 'watch.error.connection'],
]

/** Returns the error of a delivery, translated if possible. */
export function deliveryErrorText(error: string): string {
  if (language.get() === 'es') return error
  for (const [pattern, key] of ERRORS) {
    const found = pattern.exec(error)
    if (found !== null) return t(key, { code: found.groups?.['code'] ?? '' }).replace(' ()', '')
  }
  return error
}
