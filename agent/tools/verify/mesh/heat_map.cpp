// SPDX-License-Identifier: GPL-2.0-or-later
// heat_map() of rendering.hpp: the latencies and bandwidths of all pairs as a picture.
#include <algorithm>
#include <map>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/verify/mesh/rendering.hpp"

namespace pvrdma::verify {

namespace {

constexpr int kMargin = 150, kTop = 40, kGap = 40;
constexpr std::size_t kNamesAtMost = 64;  // with more names each would be smaller than a line
constexpr std::size_t kNameColumns = 18;  // with its number a name fits the margin

std::string escaped(const std::string& text) {
  constexpr std::string_view kSpecial = "<>&\"";
  constexpr const char* kEntities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
  std::string out;
  for (const char each : printable(text))
    if (const std::size_t at = kSpecial.find(each); at != std::string_view::npos)
      out += kEntities[at];
    else
      out += each;
  return out;
}

struct Range {
  double least = 0, most = 0;
};

Range range_of(const Matrix& matrix) {
  std::vector<double> values;
  for (const auto& row : matrix)
    for (const auto& cell : row)
      if (cell) values.push_back(*cell);
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

// From light blue to dark blue, which people who cannot tell red from green can tell apart.
std::string colour(double badness) {
  const auto mix = [&](int best, int worst) {
    return static_cast<int>(best + (worst - best) * std::clamp(badness, 0.0, 1.0));
  };
  return formatted("#{:02x}{:02x}{:02x}", mix(0xde, 0x08), mix(0xeb, 0x30), mix(0xf7, 0x6b));
}

class Picture {
 public:
  Picture(const Mesh& mesh, const Judgement& judgement)
      : mesh_(mesh), judgement_(judgement), cell_(mesh.machines.size() > kNamesAtMost ? 4 : 18) {
    for (const JudgedPair& pair : judgement.pairs)
      for (const auto& place : {std::pair{pair.from, pair.to}, std::pair{pair.to, pair.from}})
        judged_[place] = &pair;
  }

  [[nodiscard]] int side() const { return static_cast<int>(mesh_.machines.size()) * cell_; }

  [[nodiscard]] std::string part(const MatrixKind& kind, int left) const {
    const Matrix matrix = matrix_of(mesh_, judgement_, kind);
    const Range range = range_of(matrix);
    std::string text = formatted(
        "<g transform=\"translate({},{})\">\n<text x=\"0\" y=\"-12\">{}: {:.4g} to {:.4g}</text>\n",
        left, kTop, escaped(kind.title), range.least, range.most);
    for (std::size_t row = 0; row < matrix.size(); ++row)
      for (std::size_t column = 0; column < matrix.size(); ++column)
        if (row != column) text += cell(kind, range, row, column, matrix[row][column]);
    return text + "</g>\n";
  }

  // With the numbers of the table: the names of a cluster differ at their ends.
  [[nodiscard]] std::string names() const {
    if (mesh_.machines.size() > kNamesAtMost) return {};
    std::string text;
    for (std::size_t row = 0; row < mesh_.machines.size(); ++row)
      text += formatted("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} {}</text>\n", kMargin - 6,
                        kTop + static_cast<int>(row) * cell_ + 13, row + 1,
                        escaped(ctl::shortened(mesh_.machines[row].name, kNameColumns)));
    return text;
  }

 private:
  [[nodiscard]] std::string cell(const MatrixKind& kind, const Range& range, std::size_t row,
                                 std::size_t column, const std::optional<double>& value) const {
    const int x = static_cast<int>(column) * cell_, y = static_cast<int>(row) * cell_;
    const auto judged = judged_.find({row, column});
    const bool is_bad = judged != judged_.end() && !judged->second->bad.empty();
    if (!value && !is_bad) return {};  // not tried
    const double width = range.most - range.least;
    double badness = value && width > 0 ? (*value - range.least) / width : 0;
    if (!kind.less_is_better && width > 0) badness = 1 - badness;
    const std::string fill = value ? colour(badness) : "#ffffff";
    std::string text = formatted(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}><title>{} to {}: "
        "{}</title></rect>\n",
        x, y, cell_ - 1, cell_ - 1, fill, is_bad ? " stroke=\"#cb181d\" stroke-width=\"2\"" : "",
        escaped(mesh_.machines[row].name), escaped(mesh_.machines[column].name),
        value ? formatted("{:.4g}, {}", *value, words_of(*judged->second->path).id) : "failed");
    if (!value)
      text += formatted("<path d=\"M{0} {1}l{2} {2}m0 -{2}l-{2} {2}\" stroke=\"#cb181d\"/>\n", x, y,
                        cell_ - 1);
    return text;
  }

  const Mesh& mesh_;
  const Judgement& judgement_;
  int cell_;
  std::map<std::pair<std::size_t, std::size_t>, const JudgedPair*> judged_;  // by row and column
};

}  // namespace

std::string heat_map(const Mesh& mesh, const Judgement& judgement) {
  const Picture picture{mesh, judgement};
  const int step = std::max(picture.side(), 260) + kGap;
  std::string text = formatted(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      kMargin + 2 * step, kTop + picture.side() + kGap);
  text += picture.names();
  text += picture.part(kMatrices[0], kMargin);
  text += picture.part(kMatrices[1], kMargin + step);
  return text + "</svg>\n";
}

}  // namespace pvrdma::verify
