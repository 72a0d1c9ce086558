/** Style of HTML reports: fonts of the system, light and dark. Plots keep a white ground. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1a1a1a;--muted:#5c5c5c;--line:#d9d9d9;--ground:#fff;--ok:#00694f;--bad:#a8200d;--tile:#f4f6f8}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--muted:#a8a8a8;--line:#3c3c3c;--ground:#161616;--ok:#4cc9a0;--bad:#ff8a75;--tile:#222}}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem}
.muted,figcaption,small{color:var(--muted)}.ok{color:var(--ok)}.bad{color:var(--bad)}
.gate{border:1px solid currentColor;border-radius:8px;padding:0 1rem .5rem;margin:1rem 0}.gate h2{margin-top:.75rem}.gate ul{padding-left:1.2rem}.gate table{color:var(--ink)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.75rem;margin:1rem 0}
.tiles div{background:var(--tile);border-radius:8px;padding:.75rem 1rem;display:flex;flex-direction:column}.tiles strong{font-size:1.8rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}th{font-weight:600;white-space:nowrap}
figure{margin:1rem 0}figure svg{max-width:100%;height:auto;border-radius:8px}
details{margin:.5rem 0}summary{cursor:pointer;font-weight:600}
`.replaceAll('\n', '');
