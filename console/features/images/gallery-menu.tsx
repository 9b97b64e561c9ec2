import { useState } from 'react'
import { navigate } from '../../base/router.ts'
import { useActions, type Action } from '../../design/actions.ts'
import { MenuEntry, Menu, Button, onFirstClick } from '../../design/elements.tsx'
import { t, tn, moment } from '../../i18n/index.ts'
import { TicketDialog } from './ticket-dialog.tsx'
import { callApi } from '../../api/client.ts'
import { CopyButton } from '../../design/copy-button.tsx'
import { FormDialog, Dialog } from '../../design/dialog.tsx'
import { Check, SelectField } from '../../design/field.tsx'
import { showToast, showError } from '../../design/toasts.tsx'
import { linkOf, type ImageRecord } from './gallery.tsx'
import { useMutation } from '@tanstack/react-query'
import { queryClient, useApi } from '../../api/query-client.ts'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { WideTable } from '../../design/wide-table.tsx'

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
  const lift = useMutation({
    mutationFn: (id: string) => callApi('DELETE /api/v1/imagestore/bans', { query: { id } }),
    onSuccess: () => {
      showToast(t('images.banLifted'))
      return queryClient.invalidateQueries({ queryKey: QUERY_KEY })
    },
    onError: (error) => showError(error),
  })
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
                    <Button
                      look="quiet"
                      label={t('images.banLift')}
                      about={hash ?? dhash ?? ''}
                      isBusy={lift.isPending && lift.variables === id}
                      onClick={onFirstClick(() => lift.isPending || lift.mutate(id))}
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
