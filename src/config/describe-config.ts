import type { ConfigField } from './config-field.js';
import { CONFIG_FIELDS } from './config-fields.js';

/** The README's table of settings; a test compares the two. */
export function configTable(): string {
  const rows = CONFIG_FIELDS.map((field: ConfigField) => {
    const flag = field.flag === undefined ? '' : `\`--${field.flag}\``;
    return `| \`${field.env}\` | ${flag} | ${field.default} | ${field.description.replaceAll('|', '\\|')} |`;
  });
  return ['| variable | flag | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
