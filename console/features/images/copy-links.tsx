import { Icon } from '../../design/icon.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { t, type TextKey } from '../../i18n/index.ts'
import { linksOf } from './links.ts'
import { linkOf, type ImageRecord } from './record.ts'

const KINDS = [
  ['url', 'images.linkUrl'],
  ['html', 'images.linkHtml'],
  ['markdown', 'images.linkMarkdown'],
  ['bbcode', 'images.linkBbcode'],
] as const satisfies readonly (readonly [string, TextKey])[]

/** Buttons that copy the link in the format of each target. */
export function CopyLinks({ image, modifier = '' }: { image: ImageRecord; modifier?: string }) {
  const title = t(modifier === '' ? 'images.links' : 'images.resultLinks')
  const links = linksOf(image, (one) => linkOf(image.hash, one), modifier)
  return (
    <section className="stack" aria-label={title}>
      <h3>{title}</h3>
      <div className="row">
        {KINDS.map(([kind, label]) => (
          <CopyButton key={kind} text={links[kind]} label={t(label)} />
        ))}
        <a className="button quiet" href={links.url} target="_blank" rel="noreferrer">
          <Icon name="out" />
          {t('images.openLink')}
        </a>
      </div>
    </section>
  )
}
