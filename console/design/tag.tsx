import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface TagProps {
  readonly icon?: IconName
  readonly look?: 'review' | 'free' | 'danger'
  readonly label: ReactNode
}

/** A short remark about something, such as its state. */
export const Tag = ({ icon, look, label }: TagProps) => (
  <span className={look === undefined ? 'tag' : `tag ${look}`}>
    {icon !== undefined && <Icon name={icon} />}
    {label}
  </span>
)
