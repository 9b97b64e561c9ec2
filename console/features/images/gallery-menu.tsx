import { useState } from 'react'
import { navigate } from '../../base/router.ts'
import { useActions, type Action } from '../../design/actions.ts'
import { MenuEntry, Menu } from '../../design/elements.tsx'
import { t, tn, moment } from '../../i18n/index.ts'
import { callApi } from '../../api/client.ts'
import { CopyButton, RequestButton } from '../../design/buttons.tsx'
import { FormDialog, Dialog, ShownOnce } from '../../design/dialog.tsx'
import { Check, SelectField, TextField } from '../../design/field.tsx'
import { showToast } from '../../design/toasts.tsx'
import { linkOf, type ImageRecord } from './gallery.tsx'
import { queryClient, useApi } from '../../api/query-client.ts'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { WideTable } from '../../design/page.tsx'
import { IMAGE_TYPES, MAX_IMAGE_NAME_CHARACTERS, MAX_TICKET_USES } from '../../base/constants.ts'
import { serverNow } from '../../base/server.ts'
import { showOnce, unsentForms } from '../work/forms.tsx'

/** What else the gallery has: the trash, tickets for uploads of others, and banned images. */
export function GalleryMenu({ isLocked }: { isLocked: boolean }) {
  const [open, setOpen] = useState<'ticket' | 'bans'>()
  const close = () => setOpen(undefined)
  const changes: readonly Action[] = [
    { id: 'ticket', label: t('images.ticket'), icon: 'link', run: () => setOpen('ticket') },
    { id: 'bans', label: t('images.bans'), icon: 'lock', run: () => setOpen('bans') },
  ]
  const actions: readonly Action[] = [
    {
      id: 'trash',
      label: t('images.trash'),
      icon: 'trash',
      run: () => navigate('imagenes', new URLSearchParams({ papelera: '' })),
    },
    ...(isLocked ? [] : changes),
  ]
  useActions(() => actions)
  return (
    <>
      <Menu label={t('app.more')} icon="more">
        {actions.map(({ id, label, icon, run }) => (
          <MenuEntry key={id} icon={icon} label={label} onClick={run} />
        ))}
      </Menu>
      {open === 'ticket' && <TicketDialog onClose={close} />}
      {open === 'bans' && <BansDialog onClose={close} />}
    </>
  )
}

/** Most bits of the dhash in which a banned picture differs. */
const DISTANCES = ['0', '4', '8'] as const

interface Props {
  readonly images: readonly ImageRecord[]
  readonly onTrash: () => void
  readonly onClose: () => void
}

/** Bans images, so that neither they nor pictures that look alike are uploaded again. */
export function BanDialog({ images, onTrash, onClose }: Props) {
  const [distance, setDistance] = useState<(typeof DISTANCES)[number]>('4')
  const [isTrashed, setTrashed] = useState(true)
  const ban = async () => {
    for (const { hash } of images)
      await callApi('POST /api/v1/imagestore/bans', { body: { hash, distance: Number(distance) } })
    showToast(tn('images.banned', images.length))
    if (isTrashed) onTrash()
  }
  return (
    <FormDialog
      title={tn('images.banTitle', images.length)}
      action={t('images.ban')}
      shownBy="images"
      onSend={ban}
      onClose={onClose}
    >
      <SelectField
        label={t('images.banDistance')}
        hint={t('images.banHint')}
        value={distance}
        options={DISTANCES}
        textOf={(one) => t(`images.banDistance.${one}`)}
        onChange={setDistance}
      />
      <Check label={t('images.banTrash')} value={isTrashed} onChange={setTrashed} />
    </FormDialog>
  )
}

const QUERY_KEY = ['images', 'bans']

/** The banned images, each of which can be allowed again. */
function BansDialog({ onClose }: { onClose: () => void }) {
  const bans = useApi(QUERY_KEY, 'GET /api/v1/imagestore/bans', { select: ({ data }) => data })
  const lift = async (id: string) => {
    await callApi('DELETE /api/v1/imagestore/bans', { query: { id } })
    showToast(t('images.banLifted'))
    await queryClient.invalidateQueries({ queryKey: QUERY_KEY })
  }
  return (
    <Dialog title={t('images.bans')} isWide onClose={onClose}>
      <p className="muted" id="bans">
        {t('images.bansText')}
      </p>
      <QueryResult of={bans}>
        {(data) =>
          data.length === 0 ? (
            <Notice icon="lock" title={t('images.noBans')} />
          ) : (
            <WideTable
              labelledBy="bans"
              heads={[t('images.image'), t('images.banDate'), t('images.banDistance')]}
              actions={t('images.banLift')}
            >
              {data.map(({ id, hash, dhash, date, distance }) => (
                <tr key={id}>
                  <th scope="row">
                    <BannedImage hash={hash} dhash={dhash} />
                  </th>
                  <td>{moment(date)}</td>
                  <td>{dhash === null ? t('images.banBytes') : t('images.banBits', { n: distance })}</td>
                  <td>
                    <RequestButton
                      look="quiet"
                      label={t('images.banLift')}
                      about={hash ?? dhash ?? ''}
                      onRequest={() => lift(id)}
                    />
                  </td>
                </tr>
              ))}
            </WideTable>
          )
        }
      </QueryResult>
    </Dialog>
  )
}

/** The picture while its image exists, later only its hash. */
function BannedImage({ hash, dhash }: { hash: string | null; dhash: string | null }) {
  const [isGone, setGone] = useState(hash === null)
  const id = hash ?? dhash ?? ''
  if (!isGone)
    return (
      <img
        src={linkOf(id, 'w_144,h_72,f_webp')}
        alt={id}
        height={36}
        loading="lazy"
        onError={() => setGone(true)}
      />
    )
  return (
    <>
      <span className="mono">{id}</span> <CopyButton text={id} isPlain />
    </>
  )
}

const MEGABYTE = 1_000_000
/** Seconds. */
const LIFETIMES = ['600', '3600', '86400'] as const

interface Fields {
  readonly seconds: (typeof LIFETIMES)[number]
  readonly uses: string
  /** Megabytes; empty for the limit of the service. */
  readonly largest: string
  /** None for all. */
  readonly types: readonly string[]
  readonly tags: string
  /** Empty for that of each file. */
  readonly name: string
  /** How long the images are kept; empty if they do not expire. */
  readonly days: string
}

const INITIAL: Fields = { seconds: '3600', uses: '1', largest: '', types: [], tags: '', name: '', days: '' }

const useFields = unsentForms<Fields>()

/** Creates an address to which anybody can upload, and shows it, once. */
function TicketDialog({ onClose }: { onClose: () => void }) {
  const { fields, bind, set, ...form } = useFields('ticket', INITIAL)
  const { seconds, uses, largest, types, tags, name, days } = fields
  const create = () =>
    showOnce(async () => {
      const { data } = await callApi('POST /api/v1/imagestore/tickets', {
        body: {
          expires: Number(seconds),
          uses: Number(uses),
          max_bytes: largest === '' ? undefined : Math.floor(Number(largest) * MEGABYTE),
          types: types.join(',') || undefined,
          tags: tags || undefined,
          name: name || undefined,
          image_expires: days === '' ? undefined : Math.floor(serverNow() / 1_000) + Number(days) * 86_400,
        },
      })
      const line = `curl --data-binary @foto.jpg -H 'Content-Type: image/jpeg' '${data.url}'`
      return (close) => (
        <ShownOnce
          title={t('images.ticketCreated')}
          text={t('images.ticketOnce', { until: moment(data.expires) })}
          secrets={[{ label: t('images.ticketUrl'), secret: data.url, line }]}
          onClose={close}
        />
      )
    })
  return (
    <FormDialog
      title={t('images.ticket')}
      action={t('app.create')}
      form={form}
      shownBy="images"
      onSend={create}
      onClose={onClose}
    >
      <p className="muted">{t('images.ticketText')}</p>
      <SelectField
        label={t('images.ticketExpires')}
        {...bind('seconds')}
        options={LIFETIMES}
        textOf={(one) => t(`images.ticketLasts.${one}`)}
      />
      <TextField
        label={t('images.ticketUses')}
        type="number"
        required
        min={1}
        max={MAX_TICKET_USES}
        step={1}
        {...bind('uses')}
      />
      <TextField
        label={t('images.ticketLargest')}
        type="number"
        min={0.001}
        step="any"
        placeholder={t('images.ticketNoLimit')}
        {...bind('largest')}
      />
      <fieldset className="ticket-types">
        <legend>{t('images.ticketTypes')}</legend>
        {IMAGE_TYPES.map((type) => (
          <Check
            key={type}
            label={type.replace(/^image\/|\+xml$/g, '')}
            value={types.includes(type)}
            onChange={(isOn) => set({ types: isOn ? [...types, type] : types.filter((one) => one !== type) })}
          />
        ))}
      </fieldset>
      <TextField label={t('images.tags')} placeholder={t('images.ticketTags')} {...bind('tags')} />
      <TextField
        label={t('images.ticketName')}
        placeholder={t('images.ticketOwnName')}
        maxLength={MAX_IMAGE_NAME_CHARACTERS}
        {...bind('name')}
      />
      <TextField
        label={t('images.ticketDays')}
        type="number"
        min={1}
        step={1}
        placeholder={t('images.ticketForever')}
        {...bind('days')}
      />
    </FormDialog>
  )
}
