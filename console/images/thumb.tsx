import { useState } from 'react'
import { Icon } from '../design/icon.tsx'
import { placeholderOf } from './placeholder.ts'
import { thumbOf, type ImageRecord } from './record.ts'

/** An image of the gallery: its blurred placeholder, then the image over it. */
export function Thumb({ image, height }: { image: ImageRecord; height: number }) {
  const [state, setState] = useState<'loading' | 'loaded' | 'broken'>('loading')
  if (state === 'broken') {
    return (
      <span className="tile-broken">
        <Icon name="images" />
        <span>{image.name}</span>
      </span>
    )
  }
  const placeholder = placeholderOf(image.thumbhash)
  const isBehind = placeholder !== undefined && (state === 'loading' || !placeholder.isSeeThrough)
  return (
    <span
      className={placeholder === undefined ? 'thumb' : 'thumb blurred'}
      style={isBehind ? { backgroundImage: `url("${placeholder.url}")` } : {}}
    >
      <img
        className={state === 'loaded' ? 'loaded' : ''}
        src={thumbOf(image, height)}
        alt={image.name}
        decoding="async"
        draggable={false}
        onLoad={() => setState('loaded')}
        onError={() => setState('broken')}
      />
    </span>
  )
}
