# SPDX-License-Identifier: BSD-3-Clause
# awk -v folder=FOLDER -f figures.awk pictures.txt published.csv BENCHMARK.csv...: for each picture that the lines give,
# ID.gp for gnuplot (none for a table), ID.html and ID.md (title, table, published figures, sentence), and a line
# "benchmark|id|title" in FOLDER/figures. Called by studies/figures/draw.

function quoted(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
function html(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
function median(list,    n, v, i, j, t) { # of numbers with blanks between
  n = split(list, v, " ")
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return n == 0 ? "" : n % 2 ? v[(n + 1) / 2] + 0 : (v[n / 2] + v[n / 2 + 1]) / 2
}
function short(x,    d) { # three digits
  if (x !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) return x == "" ? "-" : x
  d = x == 0 ? 0 : 2 - int(log(x < 0 ? -x : x) / log(10) + 100) + 100
  return sprintf("%." (d < 0 ? 0 : d > 6 ? 6 : d) "f", x)
}
function words(x, value) { # with its unit
  if (value == "seconds") return x >= 0.2 ? short(x) " s" : x >= 2e-4 ? short(1e3 * x) " ms" : short(1e6 * x) " us"
  return short(x) (value == "bytes" ? " MB" : value == "cost" ? " steps" : value == "speedup" ? " times" : "")
}
# The fields of these columns in one label.
function label(columns, f,    n, c, k, s, one) {
  n = split(columns, c, ","); s = ""
  for (k = 1; k <= n; ++k) {
    one = f[at[c[k]]]
    if (c[k] == "to" && c[k - 1] == "from") { if (one != f[at["from"]]) s = s " -> " one; continue }
    if (c[k] == "n") one = "n = " one
    s = s (k > 1 && one != "" ? ", " : "") one
  }
  return s
}
function fits(conditions, f,    n, c, k, pair, m, v, j, ok) {
  n = split(conditions, c, ",")
  for (k = 1; k <= n; ++k) {
    split(c[k], pair, "=")
    if (pair[2] == "max") {
      if (f[at["n"]] + 0 != largest[f[1], f[at["part"]], f[at["application"]]]) return 0
      continue
    }
    m = split(pair[2], v, "/"); ok = 0
    for (j = 1; j <= m; ++j) if (f[at[pair[1]]] == v[j]) ok = 1
    if (!ok) return 0
  }
  return 1
}
function remember(list, key, name) { # names in the order in which they came
  if (!((key, name) in known)) { known[key, name] = 1; list[key, ++count[key]] = name }
}

FILENAME ~ /pictures\.txt$/ {
  if (sub(/^ +/, "")) view[views] = view[views] "|" $0
  else if (!/^#/) view[++views] = $0
  next
}
FNR == 1 {
  split("", at); n = split($0, header, ",")
  for (k = 1; k <= n; ++k) at[header[k]] = k
  is_published = header[1] == "source"
  next
}
is_published { published[++publishings] = $0; next }
{
  line[++lines] = $0; split($0, f, ",")
  key = f[1] SUBSEP f[at["part"]] SUBSEP f[at["application"]]
  if (f[at["n"]] + 0 > largest[key]) largest[key] = f[at["n"]] + 0
  key = key SUBSEP f[at["n"]] SUBSEP f[at["from"]]
  if (f[at["phase"]] == "step") step[key] = step[key] " " f[at["seconds"]]
}
END {
  bound = "one-port bound" # a black mark over the bars
  split("#0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #999999", colour, " ") # Okabe and Ito's
  for (v = 1; v <= views; ++v) figures(view[v])
}

function figures(text,    p, k, f, id, value, sample, key, cell, n, list, title, each) {
  split(text, p, "|")
  split("", figure); split("", known); split("", count); split("", xs); split("", colours); split("", cells)
  split("", ranks)
  n = 0
  for (k = 1; k <= 2 * lines; ++k) { # the bound after all others
    split(line[k > lines ? k - lines : k], f, ",")
    if (f[1] != p[2] || (f[at["phase"]] == bound) != (k > lines) || !fits(p[3], f)) continue
    each = label(p[4], f); sample = f[at["seconds"]]
    if (p[7] == "bytes") sample = f[at["bytes"]] / 1e6
    if (sample == "") continue
    if (!(each in figure)) { figure[each] = ++n; list[n] = each; fields[each] = line[k > lines ? k - lines : k] }
    x = label(p[5], f); s = k > lines ? bound : label(p[6], f)
    remember(xs, each, x); remember(colours, each SUBSEP "colours", s)
    cells[each, x, s] = cells[each, x, s] " " sample
    key = f[1] SUBSEP f[at["part"]] SUBSEP f[at["application"]] SUBSEP f[at["n"]]
    before[each, x, s] = key SUBSEP f[at["from"]]; after[each, x, s] = key SUBSEP f[at["to"]]
    if ((each, s) in ranks && f[at["ranks"]] + 0 >= ranks[each, s]) continue
    ranks[each, s] = f[at["ranks"]] + 0; smallest[each, s] = x
  }
  for (k = 1; k <= n; ++k) figure_of(p, list[k])
}
# One picture with its table.
function figure_of(p, each,    id, title, f, c, m, k, i, nx, ns, name, x, s, v, file) {
  split(fields[each], f, ","); m = split(p[4], c, ","); id = p[1]; title = p[9]
  for (k = 1; k <= m; ++k) { id = id "-" f[at[c[k]]]; gsub("%" k, f[at[c[k]]], title) }
  gsub(/[^A-Za-z0-9_-]/, "_", id)
  nx = count[each]; ns = count[each SUBSEP "colours"]
  split("", value); split("", runs)
  for (i = 1; i <= nx; ++i)
    for (k = 1; k <= ns; ++k) { x = xs[each, i]; s = colours[each SUBSEP "colours", k]; worth(p[7], each, x, s, i, k) }
  print p[2] "|" id "|" title >(folder "/figures")
  tables(p, each, id, title, nx, ns, f)
  if (p[8] != "table") picture(p, each, id, title, nx, ns)
}
# value[i, k] and runs[i, k]: what is drawn.
function worth(kind, each, x, s, i, k,    list, n, r, by, old, new, m) {
  list = cells[each, x, s]; by = 1
  if (list == "") { value[i, k] = ""; return }
  if (kind == "payoff") {
    old = median(step[before[each, x, s]]); new = median(step[after[each, x, s]]); m = median(list)
    if (old == "" || new == "") value[i, k] = ""
    else value[i, k] = old <= new ? "never" : -int(-m / (old - new)) + (m / (old - new) > int(m / (old - new)))
    return
  }
  if (kind == "cost") by = median(step[after[each, x, s]])
  if (kind == "speedup") by = median(cells[each, smallest[each, s], s])
  n = split(list, r, " "); list = ""
  for (m = 1; m <= n; ++m)
    if (by != "" && by > 0 && (r[m] > 0 || kind != "speedup"))
      list = list " " (kind == "speedup" ? by / r[m] : r[m] / by)
  runs[i, k] = n > 1 && kind != "bytes" ? list : ""; value[i, k] = median(list)
}
function cells_of(row, tag,    n, c, k, s, class) { # numbers to the right
  n = split(row, c, "|"); s = ""
  for (k = 1; k <= n; ++k) {
    class = tag == "th" && k > 1 || c[k] ~ /^[-0-9.]+$|^never$/ ? "n" : "s"
    s = s "<" tag " class=\"" class "\">" html(c[k]) "</" tag ">"
  }
  return "<tr>" s "</tr>"
}
function table(id, caption, head, rows, n,    k, m, c, rule, web, text) { # head and rows with | between their fields
  web = folder "/" id ".html"; text = folder "/" id ".md"
  m = split(head, c, "|"); rule = "|"
  for (k = 1; k <= m; ++k) rule = rule (k > 1 ? "--:|" : "---|")
  print "<p class=\"title\">" html(caption) "</p><div class=\"wide\"><table>" >web
  print "<thead>" cells_of(head, "th") "</thead><tbody>" >web
  gsub(/\|/, " | ", head); print "\n" caption "\n\n| " head " |\n" rule >text
  for (k = 1; k <= n; ++k) {
    print cells_of(rows[k], "td") >web
    gsub(/\|/, " | ", rows[k]); print "| " rows[k] " |" >text
  }
  print "</tbody></table></div>" >web
}
function tables(p, each, id, title, nx, ns, f,    head, rows, i, k, unit, name, is_ratio, is_bound, scale) {
  unit = p[7] == "seconds" ? "milliseconds" : p[7] == "bytes" ? "MB" : p[7] == "speedup" ? "times as fast" : "steps"
  if (ns > 1 && colours[each SUBSEP "colours", ns] == bound) is_bound = 1
  is_ratio = ns - is_bound > 1 && p[6] !~ /^n$|phase/ && p[7] ~ /seconds|bytes/; scale = p[7] == "seconds" ? 1e3 : 1
  head = p[10]
  for (k = 1; k <= ns; ++k) name[k] = colours[each SUBSEP "colours", k]
  for (k = 1; k <= ns; ++k) head = head "|" name[k]
  for (k = 2; k <= ns - is_bound && is_ratio; ++k) head = head "|" name[k] " ×"
  for (i = 1; i <= nx; ++i) {
    rows[i] = xs[each, i]
    for (k = 1; k <= ns; ++k)
      rows[i] = rows[i] "|" (p[7] == "payoff" ? value[i, k] : short(value[i, k] == "" ? "" : scale * value[i, k]))
    for (k = 2; k <= ns - is_bound && is_ratio; ++k)
      rows[i] = rows[i] "|" (value[i, k] != "" && value[i, 1] > 0 ? short(value[i, k] / value[i, 1]) : "-")
  }
  table(id, "Medians, " unit (is_ratio ? "; ×: over " name[1] : ""), head, rows, nx)
  published_table(p, id, f)
  head = sentence(p, each, nx, ns, name)
  print "<figcaption>" html(head) "</figcaption>" >(folder "/" id ".html")
  print "\n" folded(head) >(folder "/" id ".md")
  close(folder "/" id ".html"); close(folder "/" id ".md")
}
function folded(s,    n, w, k, line, out) { # lines of at most 118 columns
  n = split(s, w, " "); line = w[1]; out = ""
  for (k = 2; k <= n; ++k)
    if (length(line) + length(w[k]) >= 118) { out = out line "\n"; line = w[k] } else line = line " " w[k]
  return out line
}
function quantity(g) { # a published figure and its unit
  if (g[10] == "payoff" && g[12] < 0) return "never"
  return g[12] " " (g[12] == 1 && g[13] == "steps" ? "step" : g[13])
}
function published_table(p, id, f,    m, n, g, row, rows, source) {
  n = 0; source = ""
  for (m = 1; m <= publishings; ++m) {
    split(published[m], g, ",")
    if (!is_beside(p, f, g)) continue
    row = g[6] (g[7] != g[6] ? " -> " g[7] : "")
    for (k = 8; k <= 11; ++k) if (k != 10 && g[k] != "") row = row (row == "" ? "" : ", ") g[k]
    rows[++n] = row "|" g[10] "|" g[5] "|" quantity(g)
    if (!index(source ",", g[1] ",")) source = source (source == "" ? "" : ", ") g[1]
  }
  if (n > 0) table(id, "Published (" source ")", "what|phase|n|value", rows, n)
}
# What the picture shows, then its last category in words; of payoff points every change with the last placement.
function sentence(p, each, nx, ns, name,    i, k, text) {
  text = ""
  if (p[7] != "payoff") {
    for (k = 1; k <= ns; ++k)
      if (value[nx, k] != "") text = text (text == "" ? "" : ", ") words(value[nx, k], p[7]) " with " name[k]
    return p[11] " " xs[each, nx] ": " text "."
  }
  for (i = 1; i <= nx; ++i) {
    if (value[i, ns] == "") continue
    text = text (text == "" ? " " : "; ") xs[each, i] " takes "
    text = text words(median(cells[each, xs[each, i], name[ns]]), "seconds")
    text = text (value[i, ns] == "never" ? " and never saves its cost" : \
      " and has saved its cost after " value[i, ns] " step" (value[i, ns] == 1 ? "" : "s"))
  }
  return p[11] text "."
}
# Whether a published figure g belongs to a picture of lines like f.
function is_beside(p, f, g,    phases) {
  if (g[2] != p[2] && g[2] "_hosts" != p[2] || g[4] != f[at["application"]] || p[7] == "speedup") return 0
  if (p[7] == "bytes") return g[3] == "volume"
  if (g[3] != f[at["part"]] || p[1] ~ /^payoff$|^schedule/) return 0
  if (p[7] ~ /cost|payoff/) return g[10] == p[7]
  if (g[9] ~ /^(caterpillar)$/ && p[1] ~ /split/ && f[at["method"]] != g[9]) return 0
  phases = p[3]
  if (!sub(/.*phase=/, "", phases)) return 1
  sub(/,.*/, "", phases)
  return index("/" phases "/", "/" g[10] "/") || (p[1] ~ /placement/ && g[10] ~ /;/)
}

# ---- gnuplot ----
function offset(k, n) { return (k - 1 - (n - 1) / 2) / (n + 1) } # where the k-th of n bars stands in its cluster
function picture(p, each, id, title, nx, ns,    file, i, k, m, n, r, x, by, unit, biggest, longest, has_runs, plot,
                 narrow_plot, first, group, y, bars) {
  bars = ns - (colours[each SUBSEP "colours", ns] == bound)
  file = folder "/" id ".gp"; by = 1; biggest = 0; longest = 0
  unit = p[7] == "bytes" ? "MB" : p[7] == "speedup" ? "times as fast" : p[7] == "cost" ? "steps of the new grid" : \
    "seconds"
  for (i = 1; i <= nx; ++i) {
    if (length(xs[each, i]) > longest) longest = length(xs[each, i])
    for (k = 1; k <= ns; ++k) if (value[i, k] + 0 > biggest) biggest = value[i, k] + 0
  }
  if (unit == "seconds" && biggest < 0.2) { by = 1000; unit = "milliseconds" }
  print "# SPDX-License-Identifier: BSD-3-Clause\n$data << EOD" >file
  for (i = 1; i <= nx; ++i) {
    x = xs[each, i]; if (p[8] == "stacked") sub(/.*, /, "", x)
    printf "%s", quoted(x) >file
    for (k = 1; k <= ns; ++k) printf " %s", value[i, k] == "" ? "NaN" : by * value[i, k] >file
    print p[8] == "lines" ? " " xs[each, i] : " " i - 1 >file
  }
  print "EOD" >file
  for (k = 1; k <= ns; ++k) { # single runs, side by side over their bar
    print "$runs" k " << EOD" >file
    has_runs[k] = 0
    for (i = 1; i <= nx && k <= bars && p[8] != "stacked"; ++i) {
      n = split(runs[i, k], r, " ")
      for (m = 1; m <= n; ++m) {
        has_runs[k] = 1
        x = p[8] == "lines" ? xs[each, i] : i - 1 + offset(k, bars) + 0.5 / (bars + 1) * (m - 0.5 - n / 2) / n
        print x, by * r[m] >file
      }
    }
    print "EOD" >file
  }
  print "set xlabel " quoted(p[10]) " noenhanced\nset ylabel " quoted(unit) " noenhanced" >file
  print "set border 3 lc rgb '#666666'\nset tics nomirror out\nset grid ytics lc rgb '#d8d8d8' lt 1" >file
  print "set datafile missing 'NaN'\nset style fill solid 0.95 noborder" >file
  print p[8] == "logbars" ? "set logscale y\nset format y '%g'" : "set yrange [0:*]" >file
  print "set offsets 0.2, 0.2, graph 0.06, 0" >file
  if (p[8] != "lines")
    printf "set style data histograms\nset boxwidth 0.9\nset style histogram %s\nset xrange [-0.65:%s]\n",
      p[8] == "stacked" ? "rowstacked" : "clustered gap 1", nx - 0.35 >file
  plot = ""
  for (k = 1; k <= ns; ++k) {
    y = quoted(colours[each SUBSEP "colours", k]) " noenhanced"
    plot = plot (k > 1 ? ", \\\n  " : "plot ") (p[8] == "lines" ? \
      "$data using " ns + 2 ":" k + 1 " with linespoints lw 2.2 pt 7 ps 1.1 lc rgb '" colour[k] "' title " y : \
      y ~ bound ? "$data using 0:" k + 1 " with points pt 18 ps 1.4 lc rgb 'black' title " y : \
      "$data using " k + 1 ":xtic(1) lc rgb '" colour[(k - 1) % 8 + 1] "' title " y)
  }
  if (p[8] == "lines")
    plot = plot ", \\\n  x / " smallest_of(each, ns) " with lines dt 2 lw 1.5 lc rgb 'black' title 'ideal'"
  m = 0
  for (k = 1; k <= ns; ++k) if (has_runs[k])
    plot = plot ", \\\n  $runs" k " using 1:2 with points pt 6 lw 1.3 ps 0.7 lc rgb '" \
      (p[8] == "lines" ? colour[k] : "black") "' " (m++ ? "notitle" : "title 'single runs'")
  narrow_plot = plot
  if (p[8] ~ /bars/ && bars * nx <= 16) for (k = 1; k <= bars; ++k) # room for the numbers over the bars
    plot = plot sprintf(", \\\n  $data using ($0%+.4f):%d:(sprintf('%%.3g', $%d)) with labels offset 0,0.9 " \
      "font ',11' tc rgb '#444444' notitle", offset(k, bars), k + 1, k + 1)
  group = ""
  if (p[8] == "stacked") for (i = 1; i <= nx + 1; ++i) { # a word under the processes of each placement
    x = xs[each, i]; sub(/, .*/, "", x)
    if (x == group) continue
    if (i > 1)
      printf "set label %d %s at first %s, screen 0.06 center noenhanced\n", i, quoted(group), (first + i - 2) / 2 >file
    if (i > 1 && i <= nx)
      printf "set arrow from first %s, graph 0 to first %s, graph 1 nohead lc rgb '#bbbbbb' back\n", i - 1.5,
        i - 1.5 >file
    group = x; first = i - 1
  }
  if (p[8] == "stacked") print "set xlabel ' ' offset 0,-1" >file
  screen(file, id, "", title, nx * (longest + 2) > 110, plot, ns, p[8])
  screen(file, id, "-wide", "", nx * (longest + 2) > 110, plot, ns, p[8])
  screen(file, id, "-narrow", "", nx * (longest + 2) > 46, narrow_plot, ns, p[8])
  close(file)
}
function smallest_of(each, ns,    k, least, r) {
  for (k = 1; k <= ns; ++k) { r = ranks[each, colours[each SUBSEP "colours", k]]; if (k == 1 || r < least) least = r }
  return least
}
# The same three times: with its title, without (the page has it as text), and as wide as a telephone.
function screen(file, id, ending, title, is_crowded, plot, ns, kind,    is_narrow, keys) {
  is_narrow = ending == "-narrow"; keys = ns + 2
  printf "set terminal svg size %d,%d font 'Helvetica,Arial,sans-serif,14' background rgb 'white'\n",
    is_narrow ? 420 : 920, is_narrow ? 300 + 20 * keys : ending == "" ? 500 : 450 >file
  if (is_crowded && kind != "stacked") print "set xtics noenhanced rotate by -35\nset rmargin 7" >file
  else print "set xtics noenhanced norotate" (kind == "stacked" ? " scale 0" : "") (is_narrow ? " font ',10'" : "") \
    "\nunset rmargin" >file
  print title == "" ? "unset label 1" : \
    "set label 1 " quoted(title) " at screen 0.02, screen 0.955 left noenhanced font ',17'" >file
  if (is_narrow)
    printf "set tmargin at screen %.3f\nset key at screen 0.15, screen 0.985 left top vertical Left reverse " \
      "maxcols 1 maxrows auto\n", 1 - (20 * keys + 16) / (300 + 20 * keys) >file
  else
    printf "set tmargin at screen %s\nset key at screen 0.5, screen %s center top horizontal Left reverse maxrows 2\n",
      title != "" ? 0.82 : 0.84, title != "" ? 0.91 : 0.98 >file
  print "set output " quoted(folder "/" id ending ".svg") "\n" plot "\nunset output" >file
}
