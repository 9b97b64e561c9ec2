import { useState } from 'react'
import { navigate } from '../../base/router.ts'
import { useActions, type Action } from '../../design/actions.ts'
import { MenuEntry, Menu } from '../../design/elements.tsx'
import { t } from '../../i18n/index.ts'
import { BansDialog } from './bans.tsx'
import { TicketDialog } from './ticket-dialog.tsx'

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
